// Signals hit malloc and free; the handler jumps away (also from an alternate stack), or forks and
// the child goes on. Runs with leavable_allocator.c, whose functions may be left at any moment.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t may_jump, is_child;
static volatile long hits;
static void *blocks[64];
static unsigned state;

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
        return;
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0)
        _exit(3);
    hits++;
}

static void *allocate(int depth, size_t size) {
    void *block = depth > 0 ? allocate(depth - 1, size) : malloc(size);
    return block;
}

static void churn(int times) {
    while (times-- > 0) {
        state = state * 1103515245 + 12345;
        unsigned i = state >> 16 & 63;
        free(blocks[i]);
        blocks[i] = allocate(state >> 24 & 63, state >> 20 & 1023);
    }
}

static void arm(long microseconds) {
    struct itimerval timer = {.it_value = {.tv_usec = microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 64;
    long wanted = atol(argv[2]);
    int forks = strcmp(argv[1], "fork") == 0;
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = forks ? divide : jump};
    if (strcmp(argv[1], "jump-alternate") == 0)
        action.sa_flags = SA_ONSTACK;
    sigaction(SIGALRM, &action, NULL);
    while (hits < wanted) {
        if (sigsetjmp(back, 1) != 0)
            continue;
        long before = hits;
        may_jump = !forks;
        arm(50 + hits % 97 * 3);
        while (hits == before && !is_child)
            churn(10);
        if (is_child) {
            churn(500);
            return 0;
        }
    }
    for (int i = 0; i < 1000; i++)
        free(malloc(33001));
    printf("%ld\n", hits);
    return 0;
}
