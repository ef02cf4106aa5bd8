// Signals hit malloc and free; the handler jumps away (also from an alternate stack), or forks and
// the child goes on. Runs with leavable_allocator.c, whose functions may be left at any moment.
#include "interruptions.h"
#include <stdio.h>

static void *blocks[64];
static unsigned state;

static void *allocate(int depth, size_t size) {
    void *block = depth > 0 ? allocate(depth - 1, size) : malloc(size);
    return block;
}

static void churn(int times) {
    while (times-- > 0) {
        state = state * 1103515245 + 12345;
        unsigned i = state >> 16 & 63;
        free(blocks[i]);
        blocks[i] = allocate(state >> 24 & 63, state >> 20 & 1023);
    }
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 64;
    int forks = strcmp(argv[1], "fork") == 0;
    handle_alarms(forks ? divide : jump, argv[1]);
    if (meet_signals(atol(argv[2]), forks, churn, 500))
        return 0;
    for (int i = 0; i < 1000; i++)
        free(malloc(33001));
    printf("%ld\n", hits);
    return 0;
}
