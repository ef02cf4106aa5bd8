// Signals hit malloc on stacks that were never met before; the handler jumps away (also from an
// alternate stack), forks and the child goes on, or makes a thread that does the same and waits for
// it. The size of a block tells which functions called malloc. Runs with leavable_allocator.c.
#include "interruptions.h"
#include <pthread.h>
#include <stdio.h>

enum { LEVELS = 7, SIZE_LEVELS = 4, WAYS = 8 };

static volatile sig_atomic_t is_busy;
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

static void allocate(int times, unsigned *random) {
    while (times-- > 0)
        next(draw(random), 0);
}

static void churn(int times) {
    allocate(times, &state);
}

static void divide_and_allocate(int number) {
    (void)number;
    if (divide_and_wait())
        allocate(5, &(unsigned){state});
}

static void *run_thread(void *context) {
    allocate(50, context);
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

/* The only thread of a process meets one signal in the middle of a malloc. */
static int run_one_process(long delay) {
    hits = 0;
    is_busy = 1;
    arm(delay);
    while (hits == 0)
        churn(10);
    is_busy = 0;
    churn(200);
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

int main(int argc, char **argv) {
    if (argc < 3)
        return 64;
    int forks = strcmp(argv[1], "fork") == 0, threads = strcmp(argv[1], "threads") == 0;
    handle_alarms(threads ? wait_for_thread : forks ? divide_and_allocate : jump, argv[1]);
    if (threads)
        run_processes(atol(argv[2]));
    else if (meet_signals(atol(argv[2]), forks, churn, 200))
        return 0;
    for (int i = 0; i < WAYS; i++)
        printf("%p ", (void *)functions[i]);
    printf("%ld\n", hits);
    return 0;
}
