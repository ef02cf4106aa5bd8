/* A program that does nothing but allocate: THREADS threads, each PAIRS times malloc and free of
 * mixed sizes, DEPTH frames deep, keeping some blocks for a while. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEPT = 64 };

static long g_pairs;
static int g_depth;

static __attribute__((noinline)) void work(void) {
    void *kept[KEPT] = {0};
    uint32_t seed = 1;
    for (long i = 0; i < g_pairs; i++) {
        seed = seed * 1664525u + 1013904223u;
        void **slot = &kept[seed >> 26];
        free(*slot);
        *slot = malloc(16 + (seed >> 10 & 511));
        *(volatile char *)*slot = 1;
    }
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
}

static __attribute__((noinline)) void descend(int depth) {
    if (depth > 0)
        descend(depth - 1);
    else
        work();
    __asm__ volatile("");
}

static void *run(void *context) {
    descend(g_depth);
    return context;
}

int main(int argc, char **argv) {
    if (argc != 4)
        return fprintf(stderr, "usage: stress THREADS PAIRS DEPTH\n"), 64;
    int threads = atoi(argv[1]);
    pthread_t ids[64];
    if (threads < 1 || threads > 64)
        return 64;
    g_pairs = atol(argv[2]);
    g_depth = atoi(argv[3]);
    for (int i = 1; i < threads; i++)
        pthread_create(&ids[i], NULL, run, NULL);
    run(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
