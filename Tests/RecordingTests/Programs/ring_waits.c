/* Threads that hand an operation to the kernel and wait for its end in the same call, while a
 * snapshot is taken, and at the end of the process. The kernel works for them in threads of its
 * own. argv[1]: "signals" interrupts the first wait, with a handler. */
#define _GNU_SOURCE
#include "memtrace.h"
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ring {
    int file, pipe[2];
    struct io_uring_params params;
    char *queue;
    struct io_uring_sqe *entries;
    volatile pid_t thread;
    char byte;
};

static int make(struct ring *ring) {
    ring->file = (int)syscall(SYS_io_uring_setup, 4, &ring->params);
    if (ring->file < 0 || !(ring->params.features & IORING_FEAT_SINGLE_MMAP) || pipe(ring->pipe))
        return 0;
    int access = PROT_READ | PROT_WRITE;
    ring->queue = mmap(NULL, 4096, access, MAP_SHARED, ring->file, IORING_OFF_SQ_RING);
    ring->entries = mmap(NULL, 4096, access, MAP_SHARED, ring->file, IORING_OFF_SQES);
    return ring->queue != MAP_FAILED && ring->entries != MAP_FAILED;
}

/* Reads a byte, in a thread of the kernel's. */
static void prepare(struct ring *ring) {
    ring->entries[0].opcode = IORING_OP_READ;
    ring->entries[0].flags = IOSQE_ASYNC;
    ring->entries[0].fd = ring->pipe[0];
    ring->entries[0].addr = (uintptr_t)&ring->byte;
    ring->entries[0].len = 1;
    *(unsigned *)(ring->queue + ring->params.sq_off.array) = 0;
    __atomic_store_n((unsigned *)(ring->queue + ring->params.sq_off.tail), 1, __ATOMIC_RELEASE);
}

/* The code of the call does not tell its number, as that of liburing. */
static long submit_and_wait(struct ring *ring) {
    long result = SYS_io_uring_enter;
    register long flags __asm__("r10") = IORING_ENTER_GETEVENTS;
    register long signals __asm__("r8") = 0;
    register long size __asm__("r9") = 0;
    __asm__ volatile("nop; nop; nop; nop; syscall"
                     : "+a"(result)
                     : "D"(ring->file), "S"(1), "d"(1), "r"(flags), "r"(signals), "r"(size)
                     : "rcx", "r11", "memory");
    return result;
}

static void *wait_for_one(void *argument) {
    struct ring *ring = argument;
    prepare(ring);
    ring->thread = (pid_t)syscall(SYS_gettid);
    long result = submit_and_wait(ring);
    unsigned done = *(volatile unsigned *)(ring->queue + ring->params.cq_off.tail);
    printf("submitted %ld, %u done\n", result, done);
    fflush(stdout);
    return NULL;
}

/* Until the thread stands still in its call, and another one works for it. */
static void await(const struct ring *ring) {
    char path[64], state = 0;
    unsigned workers = 0;
    while (ring->thread == 0)
        sched_yield();
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", ring->thread);
    while (state != '4') {
        FILE *file = fopen(path, "r");
        char line[8] = "";
        if (file && fgets(line, sizeof line, file) && strncmp(line, "426 ", 4) == 0)
            state = line[0];
        if (file)
            fclose(file);
    }
    while (workers == 0) {
        FILE *names = popen("cat /proc/$PPID/task/*/comm", "r");
        char name[64];
        while (names && fgets(name, sizeof name, names))
            workers += strncmp(name, "iou-wrk", 7) == 0;
        if (names)
            pclose(names);
    }
}

static void nothing(int signal) {
    (void)signal;
}

int main(int argc, char **argv) {
    static struct ring first, last;
    pthread_t threads[2];
    int has_signals = argc > 1 && strcmp(argv[1], "signals") == 0;
    signal(SIGUSR1, nothing);
    if (!make(&first) || !make(&last)) {
        puts("no ring");
        return 0;
    }
    pthread_create(&threads[0], NULL, wait_for_one, &first);
    await(&first);
    MEMTRACE_SNAPSHOT("while it waits");
    if (has_signals)
        pthread_kill(threads[0], SIGUSR1);
    else if (write(first.pipe[1], "x", 1) != 1)
        return 1;
    pthread_join(threads[0], NULL);
    pthread_create(&threads[1], NULL, wait_for_one, &last);
    await(&last);
    return 3;
}
