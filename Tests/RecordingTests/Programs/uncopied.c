/* Ends with another thread, which waits. Holds three blocks by memory that no copy of the process
 * has, as V8 holds all of its own, and two by memory that a copy has without its content. Loses
 * one. Takes a snapshot before its end, too. */
#define _GNU_SOURCE
#include "memtrace.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_barrier_t g_barrier;

static void *wait_for_ever(void *argument) {
    pthread_barrier_wait(&g_barrier);
    for (;;)
        pause();
    return argument;
}

static __attribute__((noinline)) int hold(int count, size_t size, int advice) {
    enum { LENGTH = 4096 };
    void **memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < count; i++)
        memory[i] = malloc(size);
    return madvise(memory, LENGTH, advice);
}

static __attribute__((noinline)) void lose(void) {
    void *volatile lost = malloc(44003);
    lost = NULL;
}

static __attribute__((noinline)) void clear_stack(void) {
    volatile char room[4096];
    memset((void *)room, 0, sizeof room);
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&g_barrier, NULL, 2);
    if (pthread_create(&thread, NULL, wait_for_ever, NULL))
        return 2;
    pthread_barrier_wait(&g_barrier);
    if (hold(3, 44001, MADV_DONTFORK) || hold(2, 44002, MADV_WIPEONFORK))
        return 3;
    lose();
    clear_stack();
    MEMTRACE_SNAPSHOT("goes on");
    return 0;
}
