/* syscall(), to see a seccomp filter coming (libseccomp installs it this way).
 *
 * In assembler, because what is called may return on another stack (clone): the hook must leave
 * every register and the stack as they were and jump. Only for SYS_seccomp and SYS_prctl, and
 * before the real function is known, does it call out. */
#define _GNU_SOURCE
#include "events/hook.h"

#include "lifecycle/lifecycle.h"
#include <sys/syscall.h>

/* The C library's syscall(); NULL until mt_syscall_prepare. */
__attribute__((visibility("hidden"))) void *mt_real_syscall;

void mt_syscall_prepare(long number, long operation, unsigned long argument)
    __attribute__((visibility("hidden")));

/* Called with all argument registers saved. Operations 0 and 1 of seccomp set a mode, the others
 * only ask. */
void mt_syscall_prepare(long number, long operation, unsigned long argument) {
    if (number == SYS_seccomp && operation >= 0 && operation <= 1)
        mt_lifecycle_enter_sandbox();
    if (number == SYS_prctl)
        mt_lifecycle_before_prctl(operation, argument);
    if (!mt_real_syscall)
        mt_real_syscall = dlsym(RTLD_NEXT, "syscall");
}

#ifdef MT_EXPORT_HOOKS
#    if defined(__x86_64__)
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        "    movq mt_real_syscall(%rip), %rax\n"
        "    testq %rax, %rax\n"
        "    jz 1f\n"
        "    cmpq $317, %rdi\n"
        "    je 1f\n"
        "    cmpq $157, %rdi\n"
        "    je 1f\n"
        "    jmpq *%rax\n"
        "1:  pushq %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rsi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rdx\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rcx\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r8\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r9\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call mt_syscall_prepare\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %r9\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %r8\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rcx\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdx\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rsi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    jmpq *mt_real_syscall(%rip)\n"
        "    .cfi_endproc\n"
        ".size syscall, . - syscall\n");
#    elif defined(__aarch64__)
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, %function\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        "    adrp x16, mt_real_syscall\n"
        "    ldr x16, [x16, :lo12:mt_real_syscall]\n"
        "    cbz x16, 1f\n"
        "    cmp x0, #277\n"
        "    b.eq 1f\n"
        "    cmp x0, #167\n"
        "    b.eq 1f\n"
        "    br x16\n"
        "1:  stp x29, x30, [sp, #-80]!\n"
        "    .cfi_def_cfa_offset 80\n"
        "    .cfi_offset x29, -80\n"
        "    .cfi_offset x30, -72\n"
        "    stp x0, x1, [sp, #16]\n"
        "    stp x2, x3, [sp, #32]\n"
        "    stp x4, x5, [sp, #48]\n"
        "    str x6, [sp, #64]\n"
        "    bl mt_syscall_prepare\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x2, x3, [sp, #32]\n"
        "    ldp x4, x5, [sp, #48]\n"
        "    ldr x6, [sp, #64]\n"
        "    ldp x29, x30, [sp], #80\n"
        "    .cfi_def_cfa_offset 0\n"
        "    adrp x16, mt_real_syscall\n"
        "    ldr x16, [x16, :lo12:mt_real_syscall]\n"
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size syscall, . - syscall\n");
#    endif
#endif
