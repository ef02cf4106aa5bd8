// Gives a block to the kernel with an operation that never ends: only the queue of submissions,
// which is memory of the kernel's that is mapped, points to it. Another one is leaked. The process
// then ends alone, or with a second thread.
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct io_uring_sqe *queue;

__attribute__((noinline)) static void give_away(void) {
    queue[0].opcode = IORING_OP_NOP;
    queue[0].user_data = (uintptr_t)malloc(44201);
}

__attribute__((noinline)) static void leak(void) {
    malloc(44202);
}

static void *wait_on(void *unused) {
    pause();
    return unused;
}

int main(int argc, char **argv) {
    struct io_uring_params params = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 4, &params);
    if (ring < 0) {
        puts("no ring");
        return 0;
    }
    queue = mmap(NULL, params.sq_entries * sizeof *queue, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
                 IORING_OFF_SQES);
    if (queue == MAP_FAILED)
        return 1;
    give_away();
    leak();
    pthread_t thread;
    if (argc > 1 && pthread_create(&thread, NULL, wait_on, NULL) != 0)
        return 1;
    puts("done");
    return 0;
}
