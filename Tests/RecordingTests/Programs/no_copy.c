/* Ends with other threads where no further process may be made: the heap snapshot cannot be written
 * by a copy. Loses six blocks, and holds three. With an argument, one of the threads maps and
 * unmaps memory all the time, and holds all signals back. */
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

static void *map_and_unmap(void *argument) {
    enum { LENGTH = 1 << 20 };
    uint64_t all = UINT64_MAX; /* the C library's own as well */
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all);
    pthread_barrier_wait(&g_barrier);
    for (;;) {
        char *memory =
            mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(memory, 1, LENGTH);
        munmap(memory, LENGTH);
    }
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

int main(int argc, char **argv) {
    (void)argv;
    pthread_t threads[3];
    /* The limit does not hold for root. */
    if (getuid() == 0 && (setgroups(0, NULL) || setgid(UNUSED_USER) || setuid(UNUSED_USER)))
        return 2;
    prctl(PR_SET_DUMPABLE, 1);
    pthread_barrier_init(&g_barrier, NULL, 4);
    for (int i = 0; i < 3; i++) {
        g_held[i] = malloc(44002);
        if (pthread_create(&threads[i], NULL, i == 2 && argc > 1 ? map_and_unmap : wait_for_ever,
                           NULL))
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
