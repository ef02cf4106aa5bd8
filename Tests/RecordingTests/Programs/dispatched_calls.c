// Has the kernel turn its system calls into signals while it allocates, and counts them.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

enum { DISPATCHES_CALLS = 59, ON = 1, PASSES = 0, BLOCKS = 1 };

static volatile char selector = PASSES;
static volatile int calls;

static void count(int signal) {
    (void)signal;
    selector = PASSES;
    calls++;
}

int main(void) {
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGSYS, &action, NULL);
    for (int i = 0; i < 1000; i++)
        free(malloc(10005));
    if (prctl(DISPATCHES_CALLS, ON, 0, 0, &selector) != 0)
        return 1;
    for (int i = 0; i < 100000; i++) {
        selector = BLOCKS;
        free(malloc((size_t)(16 + i % 64)));
        selector = PASSES;
    }
    printf("%d calls\n", calls);
    return 0;
}
