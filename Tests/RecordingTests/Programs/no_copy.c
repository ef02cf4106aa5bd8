/* Ends with other threads where no further process may be made: the heap snapshot cannot be written
 * by a copy. Loses six blocks, and holds three. */
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { UNUSED_USER = 64123 };

static pthread_barrier_t g_barrier;
static void *g_held[3];

static void *wait_for_ever(void *argument) {
    pthread_barrier_wait(&g_barrier);
    for (;;)
        pause();
    return argument;
}

static __attribute__((noinline)) void lose(void) {
    for (int i = 0; i < 6; i++) {
        void *volatile lost = malloc(44001);
        lost = NULL;
    }
}

static __attribute__((noinline)) void clear_stack(void) {
    volatile char room[4096];
    memset((void *)room, 0, sizeof room);
}

int main(void) {
    pthread_t threads[3];
    /* The limit does not hold for root. */
    if (getuid() == 0 && (setgroups(0, NULL) || setgid(UNUSED_USER) || setuid(UNUSED_USER)))
        return 2;
    prctl(PR_SET_DUMPABLE, 1);
    pthread_barrier_init(&g_barrier, NULL, 4);
    for (int i = 0; i < 3; i++) {
        g_held[i] = malloc(44002);
        if (pthread_create(&threads[i], NULL, wait_for_ever, NULL))
            return 3;
    }
    pthread_barrier_wait(&g_barrier);
    lose();
    clear_stack();
    struct rlimit none = {1, 1};
    if (setrlimit(RLIMIT_NPROC, &none) || fork() >= 0)
        return 4;
    puts("no process can be made");
    return 0;
}
