// Threads that all have the same signal stack, as those of a server whose handlers only end it, and
// one that has its own. Each checks that it goes on as it was: "ok" at the end. And none may be
// interrupted on that stack by two requests at a time.
//
// argv[1]: "exit": the process ends while they wait
//          "snapshots": twenty are taken meanwhile
//          "meanwhile": a thread takes the stack of another one that stands still on it for a
//          snapshot "command": argv[2] is run meanwhile by a shell, with the process ID as
//          MARKED_PID
#define _GNU_SOURCE
#include <errno.h>
#include <memtrace.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 24, TIMES = 20 };
static char shared_stack[65536], own_stack[65536];
static pthread_barrier_t barrier;
static atomic_int is_over, started, has_frame;
static void *kept;

// The last of them waits for longer, in a call of which a handler has to wait for the rest.
static void wait_a_moment(int number) {
    struct timespec moment = {0, 1000000};
    if (number == THREADS - 1)
        poll(NULL, 0, 100);
    else
        nanosleep(&moment, NULL);
}

// What is on its stack is what it has put there, whatever stands still next to it.
static void *run(void *stack) {
    int number = started++;
    stack_t signal_stack = {.ss_sp = stack, .ss_size = sizeof shared_stack};
    volatile size_t words[64];
    sigaltstack(&signal_stack, NULL);
    for (size_t i = 0; i < 64; i++)
        words[i] = (size_t)words + i;
    pthread_barrier_wait(&barrier);
    while (!is_over) {
        wait_a_moment(number);
        for (size_t i = 0; i < 64; i++)
            if (words[i] != (size_t)words + i)
                abort();
    }
    return stack;
}

// Signals without a name whose handlers run on signal stacks, whoever has set them.
static int count_on_stacks(void) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action;
    int count = 0;
    for (int signal = 34; signal <= 64; signal++)
        if (syscall(SYS_rt_sigaction, signal, NULL, &action, sizeof action.mask) == 0)
            count += action.handler != NULL && action.flags & SA_ONSTACK;
    return count;
}

static void take_snapshots(void) {
    for (int i = 0; i < TIMES; i++) {
        struct timespec moment = {0, 1000000};
        while (MEMTRACE_SNAPSHOT("shared") == EBUSY)
            nanosleep(&moment, NULL);
    }
}

// Keeps all signals back, those of the C library among them, until there is a handler's frame on
// the stack of the thread that stands still: then it has the same stack.
static void *follow(void *unused) {
    uint64_t all = ~(uint64_t)0, before;
    volatile pid_t self = gettid();
    stack_t signal_stack = {.ss_sp = shared_stack, .ss_size = sizeof shared_stack};
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
    pthread_barrier_wait(&barrier);
    while (!is_over && !has_frame)
        for (size_t i = 0; i < sizeof shared_stack; i++)
            has_frame |= ((volatile char *)shared_stack)[i] != 0;
    sigaltstack(&signal_stack, NULL);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof all);
    while (!is_over)
        ;
    if (gettid() != self)
        abort(); // the first one has gone on as this one
    return unused;
}

static int share_meanwhile(void) {
    pthread_t first, second;
    pthread_barrier_init(&barrier, NULL, 3);
    pthread_create(&first, NULL, run, shared_stack);
    pthread_create(&second, NULL, follow, NULL);
    pthread_barrier_wait(&barrier);
    MEMTRACE_SNAPSHOT("meanwhile");
    is_over = 1;
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    puts("ok");
    return 0;
}

static void run_command(const char *command) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)0);
        _exit(127);
    }
    // The command waits for a moment when the process is not in its C library.
    while (waitpid(child, &status, WNOHANG) != child)
        for (volatile int i = 0; i < 100000; i++)
            ;
    if (status != 0)
        _exit(1);
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    char number[24];
    (void)count;
    snprintf(number, sizeof number, "%d", getpid());
    setenv("MARKED_PID", number, 1);
    kept = malloc(47001);
    if (strcmp(arguments[1], "meanwhile") == 0)
        return share_meanwhile();
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    // The thread that takes a snapshot has the same one.
    sigaltstack(&(stack_t){.ss_sp = shared_stack, .ss_size = sizeof shared_stack}, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, i == 0 ? own_stack : shared_stack);
    pthread_barrier_wait(&barrier);
    if (count_on_stacks() != 0)
        return 1;
    if (strcmp(arguments[1], "exit") == 0) {
        puts("ok");
        exit(0);
    }
    if (strcmp(arguments[1], "snapshots") == 0)
        take_snapshots();
    else
        run_command(arguments[2]);
    is_over = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
