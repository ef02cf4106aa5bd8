// Signals hit malloc on stacks that were never met before; the handler jumps away (also from an
// alternate stack), forks and the child goes on, or makes a thread that does the same and waits for
// it. The size of a block tells which functions called malloc. Runs with leavable_allocator.c.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEVELS = 7, SIZE_LEVELS = 4, WAYS = 8 };

static sigjmp_buf back;
static volatile sig_atomic_t may_jump, is_child, is_busy;
static volatile long hits;
static unsigned state;

typedef void *function(unsigned path, int level);
static function f0, f1, f2, f3, f4, f5, f6, f7;
static function *const functions[WAYS] = {f0, f1, f2, f3, f4, f5, f6, f7};

/* The outermost SIZE_LEVELS functions are the digits of the size. */
static inline __attribute__((always_inline)) void *next(unsigned path, int level) {
    if (level < LEVELS)
        return functions[path >> 3 * level & 7](path, level + 1);
    return malloc(1 + (path & ((1 << 3 * SIZE_LEVELS) - 1)));
}

#define FUNCTION(name)                                                                             \
    __attribute__((noinline)) static void *name(unsigned path, int level) {                        \
        void *volatile block = next(path, level);                                                  \
        return block;                                                                              \
    }
FUNCTION(f0)
FUNCTION(f1)
FUNCTION(f2)
FUNCTION(f3)
FUNCTION(f4)
FUNCTION(f5)
FUNCTION(f6)
FUNCTION(f7)

static unsigned draw(unsigned *random) {
    *random = *random * 1103515245 + 12345;
    return *random >> 8;
}

static void churn(int times, unsigned *random) {
    while (times-- > 0)
        next(draw(random), 0);
}

static void jump(int number) {
    (void)number;
    if (!may_jump)
        return;
    may_jump = 0;
    hits++;
    siglongjmp(back, 1);
}

static void divide(int number) {
    (void)number;
    pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        churn(5, &(unsigned){state});
        return;
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0)
        _exit(3);
    hits++;
}

static void *run_thread(void *context) {
    churn(50, context);
    return NULL;
}

static void wait_for_thread(int number) {
    (void)number;
    pthread_t thread;
    unsigned random = state;
    if (!is_busy)
        return;
    if (pthread_create(&thread, NULL, run_thread, &random) != 0 || pthread_join(thread, NULL) != 0)
        _exit(4);
    hits++;
}

static void arm(long microseconds) {
    struct itimerval timer = {.it_value = {.tv_usec = microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* The only thread of a process meets one signal in the middle of a malloc. */
static int run_one_process(long delay) {
    hits = 0;
    is_busy = 1;
    arm(delay);
    while (hits == 0)
        churn(10, &state);
    is_busy = 0;
    churn(200, &state);
    return 0;
}

static void run_processes(long count) {
    for (long i = 0; i < count; i++) {
        state = state * 69069 + 1;
        pid_t child = fork();
        if (child == 0)
            _exit(run_one_process(500 + i % 97 * 7));
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0)
            _exit(5);
    }
    hits = count;
}

static int run_signals(int forks, long count) {
    while (hits < count) {
        if (sigsetjmp(back, 1) != 0)
            continue;
        long before = hits;
        may_jump = !forks;
        arm(50 + hits % 97 * 3);
        while (hits == before && !is_child)
            churn(10, &state);
        if (is_child) {
            churn(200, &state);
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 64;
    int forks = strcmp(argv[1], "fork") == 0, threads = strcmp(argv[1], "threads") == 0;
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = threads ? wait_for_thread : forks ? divide : jump};
    if (strcmp(argv[1], "jump-alternate") == 0)
        action.sa_flags = SA_ONSTACK;
    sigaction(SIGALRM, &action, NULL);
    if (threads)
        run_processes(atol(argv[2]));
    else if (!run_signals(forks, atol(argv[2])))
        return 0;
    for (int i = 0; i < WAYS; i++)
        printf("%p ", (void *)functions[i]);
    printf("%ld\n", hits);
    return 0;
}
