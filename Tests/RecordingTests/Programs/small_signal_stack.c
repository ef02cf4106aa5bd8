/* Handlers that allocate on alternate stacks of hardly more than the kernel needs, below which
 * nothing may be touched: in several threads at a time, more than one of which takes its stack with
 * libunwind. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#    define AT_MINSIGSTKSZ 51
#endif

enum { THREADS = 8, ROUNDS = 50, ROOM = 3 << 10 };

static void handle(int signal) {
    (void)signal;
    void *volatile block = malloc(24001);
    free(block);
}

static void *interrupt(void *unused) {
    unsigned long page = sysconf(_SC_PAGESIZE), least = getauxval(AT_MINSIGSTKSZ);
    unsigned long size = (least > 2048 ? least : 2048) + ROOM;
    unsigned long mapped = (size + page - 1) / page * page;
    char *memory =
        mmap(NULL, mapped + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
        abort();
    /* The guard lies right below. */
    stack_t stack = {.ss_sp = memory + page, .ss_size = size};
    if (sigaltstack(&stack, NULL) != 0)
        abort();
    for (int i = 0; i < ROUNDS; i++)
        raise(SIGUSR1);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    return unused;
}

int main(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, interrupt, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    interrupt(NULL);
    puts("all handled");
    return 0;
}
