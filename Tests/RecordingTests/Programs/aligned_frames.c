// Functions that align their stack and have an array of variable size on it, in the middle of
// stacks and at their root: gcc keeps the end of the caller's frame in a word of theirs. The same
// call is made with the stack at several places, of which some come to the same place when they are
// aligned.
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 6, CALLS = 16 };
static void *volatile kept;
static volatile int zero;

__attribute__((noinline)) static void leaf(int size) {
    kept = malloc((size_t)size);
    free(kept);
}

__attribute__((noinline)) static void aligned(int depth, int size);

// Of another size each time.
__attribute__((noinline)) static void call(int depth, int size) {
    for (int i = 0; i < CALLS; i++) {
        char *room = alloca((size_t)(i % 4 * 16 + 16));
        memset(room, 0, 16);
        if (depth == 0)
            leaf(size);
        else if (i < 2)
            aligned(depth - 1, size);
    }
}

static void aligned(int depth, int size) {
    char array[depth + 1], buffer[64] __attribute__((aligned(64)));
    memset(array, 1, sizeof array);
    memset(buffer, array[depth], sizeof buffer);
    if ((size_t)buffer % 64 != (size_t)zero)
        abort();
    call(depth, size);
    leaf(size + 1);
}

int main(void) {
    aligned(DEPTH, 48001);
    return 0;
}
