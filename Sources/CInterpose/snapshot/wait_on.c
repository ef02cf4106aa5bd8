/* See wait_on.h. */
#define _GNU_SOURCE
#include "snapshot/wait_on.h"

#if defined(__x86_64__)

#    include "base/os.h"
#    include <errno.h>
#    include <signal.h>
#    include <string.h>
#    include <sys/syscall.h>
#    include <time.h>
#    include <ucontext.h>

/* Calls restart_syscall; returns its result. */
long mt_wait_on_rest(void) __attribute__((visibility("hidden")));
extern const char mt_wait_on_rest_end[] __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".globl mt_wait_on_rest, mt_wait_on_rest_end\n"
        ".hidden mt_wait_on_rest, mt_wait_on_rest_end\n"
        ".type mt_wait_on_rest, @function\n"
        "mt_wait_on_rest:\n"
        "    .cfi_startproc\n"
        "    movl $219, %eax\n" /* restart_syscall */
        "    syscall\n"
        "mt_wait_on_rest_end:\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size mt_wait_on_rest, . - mt_wait_on_rest\n");

/* Takes these registers, with which mt_wait_on_rest() was interrupted, and begins it anew. */
_Noreturn void mt_wait_on_rest_anew(const uint64_t registers[7])
    __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".globl mt_wait_on_rest_anew\n"
        ".hidden mt_wait_on_rest_anew\n"
        ".type mt_wait_on_rest_anew, @function\n"
        "mt_wait_on_rest_anew:\n"
        "    movq (%rdi), %rbx\n"
        "    movq 8(%rdi), %rbp\n"
        "    movq 16(%rdi), %r12\n"
        "    movq 24(%rdi), %r13\n"
        "    movq 32(%rdi), %r14\n"
        "    movq 40(%rdi), %r15\n"
        "    movq 48(%rdi), %rsp\n"
        "    jmp mt_wait_on_rest\n"
        ".size mt_wait_on_rest_anew, . - mt_wait_on_rest_anew\n");

bool mt_wait_on_is_kept(const struct mt_call *call) {
    switch (call->number) {
    case SYS_poll:
    case SYS_nanosleep:
    case SYS_restart_syscall: /* one of these, once the kernel has resumed it */
        return true;
    case SYS_clock_nanosleep:
        return !(call->arguments[1] & TIMER_ABSTIME);
    default:
        return false;
    }
}

static bool is_on_signal_stack(const ucontext_t *context) {
    const stack_t *stack = &context->uc_stack;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return !(stack->ss_flags & SS_DISABLE) && here - (uintptr_t)stack->ss_sp < stack->ss_size;
}

static void let_signals_through(const ucontext_t *context) {
    uint64_t held_back;
    memcpy(&held_back, &context->uc_sigmask, sizeof held_back);
    mt_os_restore_signals(held_back);
}

void mt_wait_on(void *context) {
    ucontext_t *interrupted = context;
    if (is_on_signal_stack(interrupted))
        return;
    let_signals_through(interrupted);
    long result = mt_wait_on_rest();
    /* Of a wait of ours for a futex: the process was stopped in it, and the rest is lost. */
    if (result == -EAGAIN || result == -ETIMEDOUT)
        result = -EINTR;
    interrupted->uc_mcontext.gregs[REG_RAX] = result;
}

/* The processor's own record of return addresses would have to be left as well. */
static bool has_shadow_stack(void) {
    uint64_t pointer = 0;
    __asm__ volatile("rdsspq %0" : "+r"(pointer)); /* does nothing where there is none */
    return pointer != 0;
}

void mt_wait_on_again(const void *context) {
    static const int kept[] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15, REG_RSP};
    const ucontext_t *interrupted = context;
    const greg_t *registers = interrupted->uc_mcontext.gregs;
    uint64_t values[sizeof kept / sizeof *kept];
    if (registers[REG_RIP] != (greg_t)(uintptr_t)mt_wait_on_rest_end ||
        registers[REG_RAX] != -EINTR || is_on_signal_stack(interrupted) || has_shadow_stack())
        return;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        values[i] = (uint64_t)registers[kept[i]];
    let_signals_through(interrupted);
    mt_wait_on_rest_anew(values);
}

#else

bool mt_wait_on_is_kept(const struct mt_call *call) {
    (void)call;
    return false;
}

void mt_wait_on(void *context) {
    (void)context;
}

void mt_wait_on_again(const void *context) {
    (void)context;
}

#endif
