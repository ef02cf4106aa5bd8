/* The functions of memtrace.h, for programs that are recorded. */
#define _GNU_SOURCE
#include "events/hook.h"

#include "base/config.h"
#include "base/moment.h"
#include "base/registers.h"
#include "base/text.h"
#include "checks/heap_checks.h"
#include "events/pausing.h"
#include "events/sampling.h"
#include "lifecycle/lifecycle.h"
#include "snapshot/snapshot.h"
#include "trace/meta_writer.h"
#include <errno.h>

enum { LONGEST_NAME = 1023 };

/* registers, pc, sp: of the caller */
void mt_api_mark(const char *name, const uint64_t *registers, uintptr_t pc, uintptr_t sp)
    __attribute__((visibility("hidden")));
int mt_api_snapshot(const char *name, const uint64_t *registers, uintptr_t pc, uintptr_t sp)
    __attribute__((visibility("hidden")));

static size_t name_length(const char *name) {
    size_t length = mt_text_length(name);
    return length < LONGEST_NAME ? length : LONGEST_NAME;
}

/* A library that is initialised before the recorder may call, and a forked child before it
 * allocates: recording begins here. So may a thread: it gets its index here, since 0 stands for
 * nobody in the process. */
static bool is_recording(void) {
    if (mt_tls.index == 0)
        mt_leave(mt_enter((uintptr_t)__builtin_frame_address(0)));
    return mt_lifecycle_has_trace();
}

static long take_snapshot(enum mt_snapshot_reason reason, const char *name,
                          const uint64_t *registers, uintptr_t pc, uintptr_t sp) {
    struct mt_snapshot_request request = {.reason = reason,
                                          .name = name,
                                          .name_length = name_length(name),
                                          .caller = {.pc = pc, .sp = sp},
                                          .registers = registers};
    return mt_snapshot_take(&request);
}

void mt_api_mark(const char *name, const uint64_t *registers, uintptr_t pc, uintptr_t sp) {
    if (!name || !is_recording())
        return;
    int saved = errno;
    /* What is found now was done before the mark. */
    mt_heap_checks_at_mark();
    struct mt_mark_record mark = {
        .time = mt_moment(), .thread = mt_tls.index, .name_length = (uint32_t)name_length(name)};
    struct mt_piece pieces[] = {{&mark, sizeof mark}, {name, mark.name_length}};
    mt_meta_write(MT_RECORD_MARK, pieces, 2);
    if (mt_config.snapshot_at_marks)
        take_snapshot(MT_SNAPSHOT_AT_MARK, name, registers, pc, sp);
    errno = saved;
}

int mt_api_snapshot(const char *name, const uint64_t *registers, uintptr_t pc, uintptr_t sp) {
    if (!name || !is_recording())
        return ENOSYS;
    return (int)-take_snapshot(MT_SNAPSHOT_BY_PROGRAM, name, registers, pc, sp);
}

static void set_paused(bool is_paused) {
    int saved = errno;
    if (is_recording()) {
        mt_pausing_set(is_paused);
        mt_sampling_look_again();
    }
    errno = saved;
}

void MT_HOOK_NAME(memtrace_pause)(void);
void MT_HOOK_NAME(memtrace_resume)(void);
void MT_HOOK_NAME(memtrace_ignore)(const void *);

MT_HOOK void MT_HOOK_NAME(memtrace_pause)(void) {
    set_paused(true);
}

MT_HOOK void MT_HOOK_NAME(memtrace_resume)(void) {
    set_paused(false);
}

MT_HOOK void MT_HOOK_NAME(memtrace_ignore)(const void *block) {
    if (!block || !is_recording())
        return;
    int saved = errno;
    struct mt_ignored_record ignored = {.time = mt_moment_of_block((uintptr_t)block),
                                        .address = (uintptr_t)block,
                                        .thread = mt_tls.index};
    struct mt_piece pieces[] = {{&ignored, sizeof ignored}};
    mt_meta_write(MT_RECORD_IGNORED, pieces, 1);
    errno = saved;
}

/* In assembler, to see the caller's registers: those that a call does not change may hold the only
 * pointer to a block. The others are 0. */
#ifdef MT_EXPORT_HOOKS
#    if defined(__x86_64__)
#        define MT_WITH_REGISTERS(name, target)                                                    \
            __asm__(".text\n"                                                                      \
                    ".globl " #name "\n"                                                           \
                    ".type " #name ", @function\n" #name ":\n"                                     \
                    "    .cfi_startproc\n"                                                         \
                    "    movq (%rsp), %rdx\n"                                                      \
                    "    leaq 8(%rsp), %rcx\n"                                                     \
                    "    subq $136, %rsp\n"                                                        \
                    "    .cfi_adjust_cfa_offset 136\n"                                             \
                    "    xorl %eax, %eax\n"                                                        \
                    "    movq %rax, 0(%rsp)\n"                                                     \
                    "    movq %rbx, 8(%rsp)\n"                                                     \
                    "    movq %rax, 16(%rsp)\n"                                                    \
                    "    movq %rax, 24(%rsp)\n"                                                    \
                    "    movq %rax, 32(%rsp)\n"                                                    \
                    "    movq %rax, 40(%rsp)\n"                                                    \
                    "    movq %rbp, 48(%rsp)\n"                                                    \
                    "    movq %rcx, 56(%rsp)\n"                                                    \
                    "    movq %rax, 64(%rsp)\n"                                                    \
                    "    movq %rax, 72(%rsp)\n"                                                    \
                    "    movq %rax, 80(%rsp)\n"                                                    \
                    "    movq %rax, 88(%rsp)\n"                                                    \
                    "    movq %r12, 96(%rsp)\n"                                                    \
                    "    movq %r13, 104(%rsp)\n"                                                   \
                    "    movq %r14, 112(%rsp)\n"                                                   \
                    "    movq %r15, 120(%rsp)\n"                                                   \
                    "    movq %rsp, %rsi\n"                                                        \
                    "    call " #target "\n"                                                       \
                    "    addq $136, %rsp\n"                                                        \
                    "    .cfi_adjust_cfa_offset -136\n"                                            \
                    "    ret\n"                                                                    \
                    "    .cfi_endproc\n"                                                           \
                    ".size " #name ", . - " #name "\n")
#    elif defined(__aarch64__)
#        define MT_WITH_REGISTERS(name, target)                                                    \
            __asm__(".text\n"                                                                      \
                    ".globl " #name "\n"                                                           \
                    ".type " #name ", %function\n" #name ":\n"                                     \
                    "    .cfi_startproc\n"                                                         \
                    "    mov x2, x30\n"                                                            \
                    "    mov x3, sp\n"                                                             \
                    "    stp x29, x30, [sp, #-272]!\n"                                             \
                    "    .cfi_def_cfa_offset 272\n"                                                \
                    "    .cfi_offset x29, -272\n"                                                  \
                    "    .cfi_offset x30, -264\n"                                                  \
                    "    add x1, sp, #16\n"                                                        \
                    "    stp xzr, xzr, [x1, #0]\n"                                                 \
                    "    stp xzr, xzr, [x1, #16]\n"                                                \
                    "    stp xzr, xzr, [x1, #32]\n"                                                \
                    "    stp xzr, xzr, [x1, #48]\n"                                                \
                    "    stp xzr, xzr, [x1, #64]\n"                                                \
                    "    stp xzr, xzr, [x1, #80]\n"                                                \
                    "    stp xzr, xzr, [x1, #96]\n"                                                \
                    "    stp xzr, xzr, [x1, #112]\n"                                               \
                    "    stp xzr, xzr, [x1, #128]\n"                                               \
                    "    stp xzr, x19, [x1, #144]\n"                                               \
                    "    stp x20, x21, [x1, #160]\n"                                               \
                    "    stp x22, x23, [x1, #176]\n"                                               \
                    "    stp x24, x25, [x1, #192]\n"                                               \
                    "    stp x26, x27, [x1, #208]\n"                                               \
                    "    stp x28, x29, [x1, #224]\n"                                               \
                    "    stp x30, x3, [x1, #240]\n"                                                \
                    "    bl " #target "\n"                                                         \
                    "    ldp x29, x30, [sp], #272\n"                                               \
                    "    .cfi_def_cfa_offset 0\n"                                                  \
                    "    ret\n"                                                                    \
                    "    .cfi_endproc\n"                                                           \
                    ".size " #name ", . - " #name "\n")
#    endif
MT_WITH_REGISTERS(memtrace_mark, mt_api_mark);
MT_WITH_REGISTERS(memtrace_snapshot, mt_api_snapshot);
#endif
