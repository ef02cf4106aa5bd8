// A library that reload.c loads: with WHICH 1 and 2 the same code addresses, other frames.
#include <stdlib.h>

#if WHICH == 1
#    define SIZE 29001
#    define LOCALS 16
#    define recurse first_recurse
#else
#    define SIZE 29002
#    define LOCALS 112
#    define recurse second_recurse
#endif

__attribute__((noinline)) static void recurse(int depth) {
    volatile char locals[LOCALS];
    locals[0] = (char)depth;
    if (depth == 0)
        free(malloc(SIZE));
    else
        recurse(depth - 1);
    locals[1] = locals[0];
}

void plugin_allocate(int depth) {
    recurse(depth);
}
