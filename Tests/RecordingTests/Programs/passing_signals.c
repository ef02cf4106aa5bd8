/* Waits while signals come that nobody has a handler for and that do nothing, and while snapshots
 * are taken. */
#define _GNU_SOURCE
#include "memtrace.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int waiting = 4;

static void over(const char *name, int result) {
    if (result != 0)
        printf("%s: %d, error %d\n", name, result, errno);
    __atomic_fetch_sub(&waiting, 1, __ATOMIC_RELEASE);
}

static void *in_sleep(void *unused) {
    over("sleep", (int)sleep(1));
    return unused;
}

static void *in_ppoll(void *unused) {
    struct timespec limit = {1, 0};
    over("ppoll", ppoll(NULL, 0, &limit, NULL));
    return unused;
}

static void *in_select(void *unused) {
    struct timeval limit = {1, 0};
    over("select", select(0, NULL, NULL, NULL, &limit));
    return unused;
}

static void *in_clock_nanosleep(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    over("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
    return unused;
}

int main(void) {
    void *(*work[])(void *) = {in_sleep, in_ppoll, in_select, in_clock_nanosleep};
    pthread_t threads[4];
    signal(SIGUSR1, SIG_IGN);
    pid_t program = getpid(), sender = fork();
    if (sender == 0)
        for (;;) {
            kill(program, SIGCONT);
            kill(program, SIGWINCH);
            kill(program, SIGUSR1);
        }
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work[i], NULL);
    while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) > 0) {
        free(malloc(67001));
        MEMTRACE_SNAPSHOT("again");
        usleep(50000);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    kill(sender, SIGKILL);
    waitpid(sender, NULL, 0);
    printf("all are over\n");
    return 0;
}
