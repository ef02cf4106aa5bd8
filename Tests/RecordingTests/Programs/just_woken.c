/* A thread wakes the one that ends the process, and has no processor afterwards: the other one has
 * the only one. Before it waits for good, it forgets the block that it has worked with. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>

static sem_t g_is_done, g_never;
static volatile bool g_ends;

static void end(void) {
    g_ends = true;
}

static void *work(void *argument) {
    void *volatile block = malloc(45001);
    sem_post(&g_is_done);
    while (!g_ends) {
    }
    block = argument;
    for (;;)
        sem_wait(&g_never);
}

static void use_one_processor(void) {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
}

int main(void) {
    pthread_t thread;
    use_one_processor();
    sem_init(&g_is_done, 0, 0);
    sem_init(&g_never, 0, 0);
    atexit(end);
    pthread_create(&thread, NULL, work, NULL);
    while (sem_wait(&g_is_done) != 0) {
    }
    return 0;
}
