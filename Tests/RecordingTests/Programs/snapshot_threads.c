// Threads that a snapshot at exit must not disturb, eight of each kind: they compute, wait in calls
// that the kernel resumes or does not, hold back all signals, or wait for any. Whoever notices
// something says so. Thirty-two threads stand still for good, eight run.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EACH = 8 };
static sem_t ready;

static void notice(const char *what, long result) {
    printf("noticed: %s %ld %s\n", what, result, strerror(errno));
    abort();
}

static void *compute(void *argument) {
    sem_post(&ready);
    for (;;) {
        char *block = malloc(100);
        block[0] = 1;
        free(block);
    }
    return argument;
}

static void *read_pipe(void *argument) {
    int ends[2];
    char byte;
    pipe(ends);
    sem_post(&ready);
    notice("read", read(ends[0], &byte, 1));
    return argument;
}

static void *poll_nothing(void *argument) {
    sem_post(&ready);
    notice("poll", poll(NULL, 0, -1));
    return argument;
}

static void *hold_back(void *argument) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    sem_post(&ready);
    for (;;)
        sleep(100);
    return argument;
}

static void *take_signals(void *argument) {
    sigset_t all;
    int number;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    sem_post(&ready);
    sigwait(&all, &number);
    notice("signal", number);
    return argument;
}

int main(void) {
    void *(*kinds[])(void *) = {compute, read_pipe, poll_nothing, hold_back, take_signals};
    sem_init(&ready, 0, 0);
    for (int i = 0; i < 5 * EACH; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, kinds[i % 5], NULL);
    }
    for (int i = 0; i < 5 * EACH; i++)
        sem_wait(&ready);
    exit(9);
}
