/* Frees large blocks whose beginning it has protected: stacks with a guard, of malloc's memory. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, SIZE = 1 << 20, ROUNDS = 10 };

static __attribute__((noinline)) void *make_stack(void) {
    char *stack = aligned_alloc(PAGE, SIZE);
    if (!stack || mprotect(stack, PAGE, PROT_NONE) != 0)
        abort();
    stack[SIZE - 1] = 1;
    return stack;
}

int main(void) {
    mallopt(M_MMAP_THRESHOLD, SIZE / 2); /* always in pages of their own, which free() gives back */
    for (int i = 0; i < ROUNDS; i++) {
        void *stack = make_stack();
        malloc_usable_size(stack);
        /* Some blocks later, or at once. */
        for (int j = 0; j < i * 10; j++)
            free(malloc(24));
        free(stack);
    }
    make_stack();
    puts("done");
    return 0;
}
