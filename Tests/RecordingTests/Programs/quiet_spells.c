/* Bursts of events, each followed by a pause without any: in the kernel or computing. Of every
 * pause a block of 51000 + N bytes is allocated right before it, one of 52000 + N right after. */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { PAUSES = 16, MILLISECONDS = 60 };

static void *volatile g_block;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void allocate(size_t size) {
    g_block = malloc(size);
}

static void burst(int pairs) {
    for (int i = 0; i < pairs; i++) {
        allocate(64);
        free(g_block);
    }
}

static void be_quiet(bool computes) {
    int64_t end = now() + MILLISECONDS * 1000000ll;
    do {
        if (!computes)
            poll(NULL, 0, MILLISECONDS);
    } while (now() < end);
}

int main(void) {
    /* Bursts of 10,000 events and three: pauses lie at all places of what is done once in a while.
     */
    for (int i = 0; i < PAUSES; i++) {
        burst(5000);
        allocate(51000 + i);
        be_quiet(i >= PAUSES / 2);
        allocate(52000 + i);
        allocate(64);
    }
}
