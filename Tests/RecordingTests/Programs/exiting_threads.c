// Threads that a signal handler ends, wherever in malloc or free they are; the next one has what
// the recorder kept for them. Runs with leavable_allocator.c.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int is_churning;
static volatile unsigned spins;

static void leave(int number) {
    (void)number;
    pthread_exit(NULL);
}

static void *allocate(int depth, size_t size) {
    void *block = depth > 0 ? allocate(depth - 1, size) : malloc(size);
    return block;
}

static void *work(void *context) {
    static void *blocks[64];
    unsigned state = (unsigned)(size_t)context;
    for (int i = 0; i < 10; i++)
        free(malloc(33001));
    is_churning = 1;
    for (;;) {
        state = state * 1103515245 + 12345;
        unsigned i = state >> 16 & 63;
        free(blocks[i]);
        blocks[i] = NULL;
        blocks[i] = allocate(state >> 24 & 63, state >> 20 & 1023);
    }
    return NULL;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 1;
    struct sigaction action = {.sa_handler = leave};
    sigaction(SIGUSR1, &action, NULL);
    for (long i = 0; i < count; i++) {
        pthread_t thread;
        is_churning = 0;
        if (pthread_create(&thread, NULL, work, (void *)(size_t)i) != 0)
            return 1;
        while (!is_churning) {
        }
        for (spins = 0; spins < (unsigned)(i * 7919 % 5000); spins++) {
        }
        pthread_kill(thread, SIGUSR1);
        pthread_join(thread, NULL);
    }
    printf("%ld\n", count);
    return 0;
}
