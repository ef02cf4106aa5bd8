// Threads, one after the other, whose first allocation comes in the last round of destructors of
// keys, when no later key is told any more that they end.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_key_t g_key;
static pid_t g_thread;

static void end(void *value) {
    size_t round = (size_t)value;
    if (round < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(g_key, (void *)(round + 1));
    else
        free(malloc(16003));
}

static void *begin(void *context) {
    g_thread = gettid();
    pthread_setspecific(g_key, (void *)1);
    return context;
}

/* pthread_join returns before the kernel has forgotten a thread. */
static void wait_until_gone(pid_t thread) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d", thread);
    while (access(path, F_OK) == 0)
        sched_yield();
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1;
    pthread_key_create(&g_key, end);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, begin, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
        wait_until_gone(g_thread);
    }
    puts("ended");
    return 0;
}
