/* Leaks a block so large that malloc maps it on its own, with blocks that only it holds, and keeps
 * another. */
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 20, CHILDREN = 100 };

static void **g_kept;

static __attribute__((noinline)) void **make(size_t child) {
    void **large = malloc(SIZE);
    for (int i = 0; i < CHILDREN; i++)
        large[i] = malloc(child);
    large[CHILDREN] = large;
    return large;
}

static __attribute__((noinline)) void leak(void) {
    void **volatile lost = make(40);
    lost = NULL;
}

static __attribute__((noinline)) void overwrite_stack(void) {
    volatile char bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
}

int main(void) {
    leak();
    g_kept = make(72);
    overwrite_stack();
    puts("done");
    return 0;
}
