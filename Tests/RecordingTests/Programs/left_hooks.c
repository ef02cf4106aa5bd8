// A handler jumps out of malloc, once each way that makes it hard to tell that malloc was left.
// Runs with leavable_allocator.c.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sigjmp_buf back;

static void jump(int number) {
    (void)number;
    siglongjmp(back, 1);
}

__attribute__((noinline)) static void churn(size_t size) {
    for (int i = 0; i < 1000; i++)
        free(malloc(size));
}

// Deeper than anything before has allocated.
__attribute__((noinline)) static void leave_below(void) {
    volatile char frame[256 << 10];
    for (size_t i = sizeof frame; i > 0; i -= 1024)
        frame[i - 1] = 1;
    free(malloc(33002));
}

int main(void) {
    struct sigaction action = {.sa_handler = jump};
    sigaction(SIGUSR1, &action, NULL);
    if (sigsetjmp(back, 1) == 0)
        leave_below();
    for (int i = 0; i < 1000; i++)
        free(malloc(33001));
    // From here, and what follows is all further down.
    if (sigsetjmp(back, 1) == 0)
        free(malloc(33002));
    churn(33003);
    puts("done");
    return 0;
}
