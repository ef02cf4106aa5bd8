// A recursion 10 000 deep that allocates on its way down and up, and four times goes down again,
// by another path. Blocks have 100000 * turn + depth bytes, in the frame at that depth.
#include <stdio.h>
#include <stdlib.h>

enum { DEEPEST = 10000, AGAIN = 3000, EVERY = 31 };

static int turn;
static const int turns_at[] = {0, 8000, 6000, 4000, 2000};

static int down(int depth, int to);

__attribute__((noinline)) static int left(int depth, int to) {
    return down(depth + 1, to) + 1;
}

__attribute__((noinline)) static int right(int depth, int to) {
    return down(depth + 1, to) + 2;
}

static void allocate(int depth) {
    if (depth % EVERY == 0 || depth < 3)
        free(malloc(100000 * (turn + 1) + depth));
}

static int is_left(int depth) {
    return (depth + (depth >= turns_at[turn] ? turn : 0)) % 3 == 0;
}

__attribute__((noinline)) static int down(int depth, int to) {
    int sum = 0;
    allocate(depth);
    if (depth < to)
        sum = is_left(depth) ? left(depth, to) : right(depth, to);
    allocate(depth);
    for (int again = 1; turn == 0 && again <= 4; again++)
        if (depth == turns_at[again]) {
            turn = again;
            sum += is_left(depth) ? left(depth, depth + AGAIN) : right(depth, depth + AGAIN);
            turn = 0;
        }
    return sum;
}

int main(void) {
    printf("%d\n", down(0, DEEPEST));
    return 0;
}
