/* A process that shares our memory. See cattach.h. */
#define _GNU_SOURCE
#include "cattach.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_SIZE = 8 << 20, GUARD_SIZE = 64 << 10 };

struct task {
    void (*body)(void *);
    void *context;
};

/* In a session of its own: what ends all of ours does not reach it. */
static int run(void *argument) {
    const struct task *task = argument;
    setsid();
    task->body(task->context);
    return 0;
}

/* This thread stands still until it has ended, and so has its thread-local memory for it. */
static int run_on(char *stack, struct task *task) {
    int status = 0;
    pid_t child = clone(run, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, task);
    if (child < 0)
        return errno;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(status) ? 0 : ECANCELED;
}

int cattach_run_apart(void (*body)(void *), void *context) {
    struct task task = {body, context};
    char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        return errno;
    mprotect(stack, GUARD_SIZE, PROT_NONE);
    int error = run_on(stack, &task);
    munmap(stack, STACK_SIZE);
    return error;
}
