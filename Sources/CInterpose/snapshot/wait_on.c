/* See wait_on.h. */
#define _GNU_SOURCE
#include "snapshot/wait_on.h"

#if defined(__x86_64__)

#    include "base/foreign_thread.h"
#    include "base/os.h"
#    include "events/fault_stack.h"
#    include <errno.h>
#    include <linux/futex.h>
#    include <signal.h>
#    include <string.h>
#    include <sys/syscall.h>
#    include <time.h>
#    include <ucontext.h>

/* Lets signals through but these, and calls restart_syscall; returns its result. Here and not in C,
 * so that who was interrupted in between is known as well: mt_wait_on_again(). */
long mt_wait_on_rest(uint64_t held_back) __attribute__((visibility("hidden")));
extern const char mt_wait_on_rest_open[],
    mt_wait_on_rest_end[] __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".globl mt_wait_on_rest, mt_wait_on_rest_open, mt_wait_on_rest_end\n"
        ".hidden mt_wait_on_rest, mt_wait_on_rest_open, mt_wait_on_rest_end\n"
        ".type mt_wait_on_rest, @function\n"
        "mt_wait_on_rest:\n"
        "    .cfi_startproc\n"
        "    pushq %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "mt_wait_on_rest_again:\n"
        "    movl $14, %eax\n" /* rt_sigprocmask */
        "    movl $2, %edi\n"  /* SIG_SETMASK */
        "    movq %rsp, %rsi\n"
        "    xorl %edx, %edx\n"
        "    movl $8, %r10d\n"
        "    syscall\n"
        "mt_wait_on_rest_open:\n"
        "    movl $219, %eax\n" /* restart_syscall */
        "    syscall\n"
        "mt_wait_on_rest_end:\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size mt_wait_on_rest, . - mt_wait_on_rest\n");

/* Takes these registers, with which mt_wait_on_rest() was interrupted, and begins it anew behind
 * its first instruction, which has pushed what it was given. */
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
        "    jmp mt_wait_on_rest_again\n"
        ".size mt_wait_on_rest_anew, . - mt_wait_on_rest_anew\n");

bool mt_wait_on_is_kept(const struct mt_call *call) {
    switch (call->number) {
    case SYS_poll:
    case SYS_nanosleep:
    case SYS_restart_syscall: /* one of these, once the kernel has resumed it */
        return true;
    case SYS_clock_nanosleep:
        return !(call->arguments[1] & TIMER_ABSTIME);
    case SYS_futex:
        return (call->arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
    default:
        return false;
    }
}

/* One of the host's, that is. */
static bool is_on_signal_stack(const ucontext_t *context) {
    const stack_t *stack = &context->uc_stack;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), start = (uintptr_t)stack->ss_sp;
    return !(stack->ss_flags & SS_DISABLE) && here - start < stack->ss_size &&
           (mt_thread_is_foreign() ||
            !mt_fault_stack_is((struct mt_signal_stack){start, stack->ss_size}));
}

bool mt_wait_on_has_no_room(const void *context) {
    return is_on_signal_stack(context);
}

void mt_wait_on(void *context, bool is_ours_lost) {
    ucontext_t *interrupted = context;
    uint64_t held_back;
    if (is_on_signal_stack(interrupted))
        return;
    memcpy(&held_back, &interrupted->uc_sigmask, sizeof held_back);
    long result = mt_wait_on_rest(held_back);
    if (is_ours_lost && (result == -EAGAIN || result == -ETIMEDOUT))
        result = -EINTR;
    interrupted->uc_mcontext.gregs[REG_RAX] = result;
}

/* True where the rest is still to be waited for: on the way there, or interrupted in it. */
static bool is_waiting_for_rest(const greg_t *registers) {
    uintptr_t pc = (uintptr_t)registers[REG_RIP];
    return (pc >= (uintptr_t)mt_wait_on_rest_open && pc < (uintptr_t)mt_wait_on_rest_end) ||
           (pc == (uintptr_t)mt_wait_on_rest_end && registers[REG_RAX] == -EINTR);
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
    if (!is_waiting_for_rest(registers) || is_on_signal_stack(interrupted) || has_shadow_stack())
        return;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        values[i] = (uint64_t)registers[kept[i]];
    mt_wait_on_rest_anew(values);
}

#else

bool mt_wait_on_is_kept(const struct mt_call *call) {
    (void)call;
    return false;
}

void mt_wait_on(void *context, bool is_ours_lost) {
    (void)context, (void)is_ours_lost;
}

void mt_wait_on_again(const void *context) {
    (void)context;
}

#endif
