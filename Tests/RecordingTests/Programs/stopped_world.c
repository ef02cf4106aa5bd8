/* A thread stops all others by signals and waits until each has said that it stands, as garbage
 * collectors do: when the process is about to end, behind the last handler of exit. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_t main_thread, waiting_thread;
static int is_last_moment, asked, stopped, goes_on;

static void await(const int *value, int least) {
    while (__atomic_load_n(value, __ATOMIC_ACQUIRE) < least)
        sched_yield();
}

static void stop(int signal) {
    (void)signal;
    __atomic_fetch_add(&stopped, 1, __ATOMIC_RELEASE);
    await(&goes_on, 1);
}

static void *wait_for_signals(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void *stop_others(void *unused) {
    await(&is_last_moment, 1);
    pthread_kill(main_thread, SIGUSR1);
    pthread_kill(waiting_thread, SIGUSR1);
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
    await(&stopped, 2);
    __atomic_store_n(&goes_on, 1, __ATOMIC_RELEASE);
    return unused;
}

/* The C library writes what streams hold when all handlers have run. */
static ssize_t write_last(void *unused, const char *bytes, size_t count) {
    (void)unused, (void)bytes;
    __atomic_store_n(&is_last_moment, 1, __ATOMIC_RELEASE);
    await(&asked, 1);
    return (ssize_t)count;
}

int main(void) {
    pthread_t stopping_thread;
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_last});
    signal(SIGUSR1, stop);
    main_thread = pthread_self();
    pthread_create(&waiting_thread, NULL, wait_for_signals, NULL);
    pthread_create(&stopping_thread, NULL, stop_others, NULL);
    fputs("last", stream);
    printf("end\n");
    return 3;
}
