/* Allocates in signal handlers on top of stacks of a few frames and of many: on the same stack, on
 * an alternate one, in a handler that has interrupted another, and amid a prologue and an epilogue.
 * "first": where the first instruction of a function was interrupted, which has another in front.
 * "overflow": where a thread has run over the end of its stack. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { ALTERNATE = 65536, ROUNDS = 5 };

static sigjmp_buf back;

static void allocate(int number) {
    (void)number;
    free(malloc(47001));
}

static void allocate_and_raise(int number) {
    (void)number;
    free(malloc(47002));
    raise(SIGUSR1);
}

static void allocate_at_a_trap(int number) {
    (void)number;
    free(malloc(47003));
}

static void allocate_and_jump(int number) {
    (void)number;
    free(malloc(47004));
    siglongjmp(back, 1);
}

/* Where its frame is told from differs at each of the traps. */
void trap(void);
__asm__(".text\n.globl trap\n.type trap, @function\ntrap:\n.cfi_startproc\n"
        "int3\n"
        "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp, 0\nint3\n"
        "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\nint3\n"
        "sub $32, %rsp\nint3\n"
        "leave\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\nint3\n"
        "ret\n.cfi_endproc\n.size trap, .-trap\n");

static void allocate_and_skip(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    free(malloc(47006));
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

void neighbour(void);
void first(void);
__asm__(".text\n.globl neighbour\n.type neighbour, @function\nneighbour:\n.cfi_startproc\n"
        "ret\n.cfi_endproc\n.size neighbour, .-neighbour\n"
        ".globl first\n.type first, @function\nfirst:\n.cfi_startproc\n"
        "ud2\nret\n.cfi_endproc\n.size first, .-first\n");

static void interrupt(void) {
    for (int i = 0; i < ROUNDS; i++) {
        raise(SIGUSR1);
        raise(SIGUSR2);
        trap();
        free(malloc(47005));
    }
}

static int descend(int depth) {
    volatile int frame[8] = {depth};
    if (depth > 0)
        return descend(depth - 1) + frame[0];
    interrupt();
    return frame[0];
}

static int run_over(int depth) {
    volatile char frame[4096];
    frame[0] = (char)depth;
    return depth < 1 << 20 ? run_over(depth + 1) + frame[0] : 0;
}

static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void *overflow(void *unused) {
    char *memory = malloc(ALTERNATE);
    stack_t alternate = {.ss_sp = memory, .ss_size = ALTERNATE};
    sigaltstack(&alternate, NULL);
    for (volatile int i = 0; i < ROUNDS; i++)
        if (sigsetjmp(back, 1) == 0)
            run_over(0);
    alternate.ss_flags = SS_DISABLE;
    sigaltstack(&alternate, NULL);
    free(memory);
    return unused;
}

static void interrupt_first(void) {
    struct sigaction action = {.sa_sigaction = allocate_and_skip, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, NULL);
    first();
}

int main(int count, char **arguments) {
    static char memory[ALTERNATE];
    stack_t alternate = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&alternate, NULL);
    handle(SIGUSR1, allocate, 0);
    handle(SIGUSR2, allocate_and_raise, SA_ONSTACK);
    handle(SIGTRAP, allocate_at_a_trap, 0);
    handle(SIGSEGV, allocate_and_jump, SA_ONSTACK);
    if (count > 1 && strcmp(arguments[1], "overflow") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, overflow, NULL);
        pthread_join(thread, NULL);
    } else if (count > 1 && strcmp(arguments[1], "first") == 0) {
        interrupt_first();
    } else {
        for (int i = 1; i < count; i++)
            descend(atoi(arguments[i]));
    }
    puts("done");
    return 0;
}
