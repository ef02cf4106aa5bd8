// Signals at moments that nobody chooses: the handler jumps back (also from an alternate stack), or
// forks and the child goes on.
#ifndef INTERRUPTIONS_H
#define INTERRUPTIONS_H

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t may_jump, is_child;
static volatile long hits;

static inline void jump(int number) {
    (void)number;
    if (!may_jump)
        return;
    may_jump = 0;
    hits++;
    siglongjmp(back, 1);
}

// Returns 1 in the child at once, 0 in the parent when the child has ended.
static inline int divide_and_wait(void) {
    pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        return 1;
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0)
        _exit(3);
    hits++;
    return 0;
}

static inline void divide(int number) {
    (void)number;
    divide_and_wait();
}

static inline void arm(long microseconds) {
    struct itimerval timer = {.it_value = {.tv_usec = microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

// The handler is for SIGALRM; "jump-alternate" has it on a stack of its own.
static inline void handle_alarms(void (*handler)(int), const char *way) {
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = handler};
    if (strcmp(way, "jump-alternate") == 0)
        action.sa_flags = SA_ONSTACK;
    sigaction(SIGALRM, &action, NULL);
}

// Works until so many signals were handled. Returns 1 in a child, which has nothing more to do.
static inline int meet_signals(long wanted, int forks, void (*churn)(int), int child_times) {
    while (hits < wanted) {
        if (sigsetjmp(back, 1) != 0)
            continue;
        long before = hits;
        may_jump = !forks;
        arm(50 + hits % 97 * 3);
        while (hits == before && !is_child)
            churn(10);
        if (is_child) {
            churn(child_times);
            return 1;
        }
    }
    return 0;
}

#endif
