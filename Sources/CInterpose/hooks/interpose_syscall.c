/* syscall(), to see a seccomp filter coming (libseccomp installs it this way), what takes a process
 * away from its traces (libcap and container tools call it by number), what makes a fork wait,
 * programs that are executed, and what may wait when a snapshot is taken.
 *
 * In assembler, because what is called may return on another stack (clone): the hook must leave
 * every register and the stack as they were and jump. Only for the numbers below, and before the
 * real function is known, does it call out. */
#define _GNU_SOURCE
#include "events/hook.h"

#include "base/newer_calls.h"
#include "hooks/exec_by_number.h"
#include "lifecycle/lifecycle.h"
#include "lifecycle/sandbox.h"
#include "process/trace_folder.h"
#include "snapshot/noted_wait.h"
#include "snapshot/snapshot.h"
#include <sys/syscall.h>

/* The C library's syscall(); NULL until mt_syscall_prepare. */
__attribute__((visibility("hidden"))) void *mt_real_syscall;

/* What a number is looked at for; by number, so that the assembler needs none. */
enum watched { UNWATCHED, FILTERS, CONFINES, HOLDS_FORKS, EXECUTES, WAITS };
enum { WATCHED_NUMBERS = 512 }; /* in the assembler, too */

extern const uint8_t mt_syscall_watched[WATCHED_NUMBERS] __attribute__((visibility("hidden")));
const uint8_t mt_syscall_watched[WATCHED_NUMBERS] = {
    [SYS_seccomp] = FILTERS,
    [SYS_prctl] = FILTERS,
    [SYS_setuid] = CONFINES,
    [SYS_setgid] = CONFINES,
    [SYS_setreuid] = CONFINES,
    [SYS_setregid] = CONFINES,
    [SYS_setresuid] = CONFINES,
    [SYS_setresgid] = CONFINES,
    [SYS_setgroups] = CONFINES,
    [SYS_capset] = CONFINES,
    [SYS_chroot] = CONFINES,
    [SYS_pivot_root] = CONFINES,
    [SYS_unshare] = CONFINES,
    [SYS_setns] = CONFINES,
    [SYS_landlock_restrict_self] = CONFINES,
    [SYS_userfaultfd] = HOLDS_FORKS,
    [SYS_execve] = EXECUTES,
    [SYS_execveat] = EXECUTES,
#if defined(__x86_64__) /* elsewhere no call goes on (resume.h) */
    [SYS_poll] = WAITS,
    [SYS_epoll_wait] = WAITS,
    [SYS_epoll_pwait] = WAITS,
    [SYS_epoll_pwait2] = WAITS,
    [SYS_select] = WAITS,
    [SYS_pselect6] = WAITS,
    [SYS_ppoll] = WAITS,
    [SYS_pause] = WAITS,
    [SYS_rt_sigsuspend] = WAITS,
    [SYS_rt_sigtimedwait] = WAITS,
    [SYS_nanosleep] = WAITS,
    [SYS_clock_nanosleep] = WAITS,
    [SYS_futex] = WAITS,
    [SYS_semop] = WAITS,
    [SYS_semtimedop] = WAITS,
    [SYS_msgrcv] = WAITS,
    [SYS_msgsnd] = WAITS,
    [SYS_io_getevents] = WAITS,
    [SYS_io_pgetevents] = WAITS,
    [SYS_io_uring_enter] = WAITS,
#endif
};

typedef long syscall_function(long, long, long, long, long, long, long);

static long ask_kernel(long number, long first, long second, long third, long fourth, long fifth,
                       long sixth) {
    return mt_ask_kernel(number, first, second, third, fourth, fifth, sixth);
}

/* Found with all others, and not here: to look it up allocates in glibc before 2.34, where an
 * allocator that calls by number while it sets itself up (jemalloc) would wait for itself, and it
 * takes the loader's variables, which a foreign thread has not. */
static syscall_function *find_real(void) {
    syscall_function *real;
    if (mt_is_early() || !mt_real.syscall)
        return ask_kernel;
    __builtin_memcpy(&real, &mt_real.syscall, sizeof real);
    __atomic_store_n(&mt_real_syscall, (void *)(uintptr_t)real, __ATOMIC_RELAXED);
    return real;
}

syscall_function *mt_syscall_prepare(long number, long first, long second, long third, long fourth,
                                     long fifth, uintptr_t sp)
    __attribute__((visibility("hidden")));

/* Called with all argument registers saved, and the stack pointer.
 *
 * returns  what makes the call */
syscall_function *mt_syscall_prepare(long number, long first, long second, long third, long fourth,
                                     long fifth, uintptr_t sp) {
    if ((unsigned long)number < WATCHED_NUMBERS && mt_syscall_watched[number] == WAITS)
        mt_noted_wait_begin(number, sp, (uint64_t)first, (uint64_t)second, (uint64_t)third);
    if (number == SYS_seccomp)
        mt_sandbox_before_seccomp(first, (unsigned long)second, (unsigned long)third);
    if (number == SYS_prctl)
        mt_sandbox_before_prctl(first, (unsigned long)second, (unsigned long)third);
    if (number == SYS_execve || number == SYS_execveat)
        mt_exec_by_number(number, (const long[]){first, second, third, fourth, fifth});
    if ((unsigned long)number < WATCHED_NUMBERS && mt_syscall_watched[number] == CONFINES)
        mt_lifecycle_before_confinement();
    if (number == SYS_landlock_restrict_self)
        mt_trace_folder_before_landlock();
    if (number == SYS_userfaultfd)
        mt_snapshot_avoid_copies();
    return find_real();
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
        "    cmpq $512, %rdi\n"
        "    jae 2f\n"
        "    leaq mt_syscall_watched(%rip), %rax\n"
        "    cmpb $0, (%rax,%rdi)\n"
        "    jne 1f\n"
        "2:  jmpq *mt_real_syscall(%rip)\n"
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
        "    leaq 48(%rsp), %rax\n"
        "    pushq %rax\n"
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
        "    jmpq *%rax\n"
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
        "    cmp x0, #512\n"
        "    b.hs 2f\n"
        "    adrp x17, mt_syscall_watched\n"
        "    add x17, x17, :lo12:mt_syscall_watched\n"
        "    ldrb w17, [x17, x0]\n"
        "    cbnz w17, 1f\n"
        "2:  br x16\n"
        "1:  stp x29, x30, [sp, #-80]!\n"
        "    .cfi_def_cfa_offset 80\n"
        "    .cfi_offset x29, -80\n"
        "    .cfi_offset x30, -72\n"
        "    stp x0, x1, [sp, #16]\n"
        "    stp x2, x3, [sp, #32]\n"
        "    stp x4, x5, [sp, #48]\n"
        "    str x6, [sp, #64]\n"
        "    add x6, sp, #80\n"
        "    bl mt_syscall_prepare\n"
        "    mov x16, x0\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x2, x3, [sp, #32]\n"
        "    ldp x4, x5, [sp, #48]\n"
        "    ldr x6, [sp, #64]\n"
        "    ldp x29, x30, [sp], #80\n"
        "    .cfi_def_cfa_offset 0\n"
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size syscall, . - syscall\n");
#    endif
#endif
