// Allocates in signal handlers, also on an alternate stack, and jumps out of one.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf back;
static char alternate[65536];

static void allocate(int number) {
    (void)number;
    free(malloc(18001));
}

static void allocate_on_alternate_stack(int number) {
    (void)number;
    free(malloc(18002));
}

static void jump(int number) {
    (void)number;
    free(malloc(18003));
    siglongjmp(back, 1);
}

int main(void) {
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction plain = {.sa_handler = allocate},
                     other = {.sa_handler = allocate_on_alternate_stack, .sa_flags = SA_ONSTACK},
                     jumping = {.sa_handler = jump, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &plain, NULL);
    sigaction(SIGUSR2, &other, NULL);
    sigaction(SIGSEGV, &jumping, NULL);
    for (int i = 0; i < 10; i++) {
        raise(SIGUSR1);
        raise(SIGUSR2);
        if (sigsetjmp(back, 1) == 0)
            *(volatile int *)16 = 1;
        free(malloc(18004));
    }
    puts("done");
    return 0;
}
