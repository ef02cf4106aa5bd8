/* Tells what signal stacks its threads have, and on which of them handlers run. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 16 };

static stack_t own;

static void tell(const char *moment) {
    stack_t stack;
    memset(&stack, 0xa5, sizeof stack);
    int result = sigaltstack(NULL, &stack);
    const char *which = stack.ss_sp == own.ss_sp && own.ss_sp ? "own"
                        : stack.ss_sp                         ? "other"
                                                              : "no";
    printf("%s: %d, %s stack, flags %d, %zu bytes\n", moment, result, which, stack.ss_flags,
           stack.ss_size);
    fflush(stdout);
}

static void on_signal(int signal) {
    char here;
    const char *first = own.ss_sp;
    int is_own = first && &here >= first && &here < first + own.ss_size;
    stack_t stack;
    sigaltstack(NULL, &stack);
    printf("signal %d on %s stack, flags %d\n", signal, is_own ? "the signal" : "the thread's",
           stack.ss_flags);
    fflush(stdout);
}

static void handle(int signal, int flags) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    sigaction(signal, &action, NULL);
}

static void *run(void *name) {
    free(malloc(1001));
    tell(name);
    raise(SIGUSR1);
    return NULL;
}

static void in_thread(const char *name) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, (void *)(size_t)name);
    pthread_join(thread, NULL);
}

static void in_child(void) {
    pid_t child = fork();
    if (child == 0) {
        free(malloc(1002));
        tell("in a child");
        in_thread("in a thread of the child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(void) {
    free(malloc(1000));
    tell("at first");
    handle(SIGUSR1, 0);
    in_thread("in a thread");
    in_child();
    handle(SIGUSR2, SA_ONSTACK);
    raise(SIGUSR2);
    own = (stack_t){.ss_sp = malloc(SIZE), .ss_size = SIZE};
    stack_t before;
    memset(&before, 0xa5, sizeof before);
    sigaltstack(&own, &before);
    printf("before: %p, flags %d, %zu bytes\n", before.ss_sp, before.ss_flags, before.ss_size);
    tell("with its own");
    raise(SIGUSR2);
    in_thread("in another thread");
    in_child();
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    tell("without");
    raise(SIGUSR2);
    return 0;
}
