/* A call inside two inlined functions; `probe` marks an instruction of the innermost one. */
#include <stdlib.h>

static inline __attribute__((always_inline)) void *innermost(size_t size) {
    void *block = malloc(size);
    __asm__ volatile(".globl probe\nprobe: nop" ::: "memory");
    return block;
}

static inline __attribute__((always_inline)) void *middle(size_t size) {
    return innermost(size * 2);
}

__attribute__((noinline)) void *outer(size_t size) {
    return middle(size + 1);
}

/* The call is the last instruction: its return address belongs to the next function. */
__attribute__((noinline)) void never_returns(void) {
    abort();
}

__attribute__((noinline)) int next_function(int value) {
    return value + 1;
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 100)
        never_returns();
    free(outer((size_t)argc));
    return next_function(-1);
}
