// Functions with arrays of more than a megabyte, in the middle of stacks.
#include <stdlib.h>

enum { DEPTH = 2, CALLS = 64, LARGE = 3 << 19 };
static void *volatile kept;

__attribute__((noinline)) static void leaf(int size) {
    kept = malloc((size_t)size);
    free(kept);
}

__attribute__((noinline)) static int large(int depth, int size) {
    char array[LARGE];
    volatile char *in = array;
    in[depth] = (char)depth;
    if (depth > 0)
        return large(depth - 1, size) + in[depth];
    for (int i = 0; i < CALLS; i++)
        leaf(size);
    return in[depth];
}

int main(void) {
    return large(DEPTH, 48101) - 3;
}
