/* See canary.h. */
#include "lifecycle/canary.h"

#include <stdlib.h>

/* Called through a pointer that the compiler cannot see through: it knows that a malloc without use
 * may be left out. */
static void *(*volatile allocate)(size_t) = malloc;

__attribute__((noinline)) static void plant(void) {
    void *block = allocate(MT_CANARY_SIZE);
    /* No copy may stay in a register that is saved on the stack of main's callers. */
    __asm__ volatile("" : "+r"(block));
    block = NULL;
    __asm__ volatile("" : "+r"(block));
}

void mt_canary_plant(void) {
    for (int i = 0; i < MT_CANARIES; i++)
        plant();
}
