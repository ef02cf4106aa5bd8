/* See cut_submission.h. */
#define _GNU_SOURCE
#include "snapshot/cut_submission.h"

#if defined(__x86_64__)

#    include "snapshot/wait_on.h"
#    include <string.h>
#    include <sys/syscall.h>
#    include <ucontext.h>

/* Arguments of io_uring_enter, and flags: IORING_ENTER_GETEVENTS, _SQ_WAIT, _EXT_ARG and
 * _EXT_ARG_REG. Its headers may be older than what programs use. */
enum { RING, SUBMITS, LEAST, FLAGS, SIGNALS, SIGNALS_SIZE };
enum { WAITS = 1 << 0, WAITS_FOR_ROOM = 1 << 2, MAY_HAVE_A_LIMIT = 1 << 3 | 1 << 6 };

/* Waits with these arguments; what it returns says nothing that the first call has not. In
 * assembly, so that the number stands where call_number.c looks for it when a further snapshot
 * interrupts this. */
long mt_cut_submission_wait(const uint64_t arguments[MT_CALL_ARGUMENTS])
    __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".globl mt_cut_submission_wait\n"
        ".hidden mt_cut_submission_wait\n"
        ".type mt_cut_submission_wait, @function\n"
        "mt_cut_submission_wait:\n"
        "    .cfi_startproc\n"
        "    movq 8(%rdi), %rsi\n"
        "    movq 16(%rdi), %rdx\n"
        "    movq 24(%rdi), %r10\n"
        "    movq 32(%rdi), %r8\n"
        "    movq 40(%rdi), %r9\n"
        "    movq (%rdi), %rdi\n"
        "    movl $426, %eax\n" /* io_uring_enter */
        "    syscall\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size mt_cut_submission_wait, . - mt_cut_submission_wait\n");

/* Who has handed over less than it was asked to does not wait. */
static bool read_cut(struct mt_call *call, const void *context, const struct mt_call *seen) {
    int64_t submitted = ((const ucontext_t *)context)->uc_mcontext.gregs[REG_RAX];
    return submitted > 0 && mt_call_read(call, context, seen) &&
           call->number == SYS_io_uring_enter &&
           (uint64_t)submitted == (uint32_t)call->arguments[SUBMITS] &&
           (call->arguments[FLAGS] & WAITS) && (uint32_t)call->arguments[LEAST] > 0;
}

bool mt_cut_submission_is(const void *context, const struct mt_call *seen) {
    struct mt_call call;
    return read_cut(&call, context, seen);
}

bool mt_cut_submission_finish(void *context, const struct mt_call *seen) {
    const ucontext_t *interrupted = context;
    struct mt_call call;
    if (!read_cut(&call, context, seen))
        return false;
    if ((call.arguments[FLAGS] & MAY_HAVE_A_LIMIT) || mt_wait_on_has_no_room(context))
        return true;
    uint64_t held_back, *arguments = call.arguments;
    memcpy(&held_back, &interrupted->uc_sigmask, sizeof held_back);
    arguments[SUBMITS] = 0;
    arguments[FLAGS] &= ~(uint64_t)WAITS_FOR_ROOM;
    if (arguments[SIGNALS] == 0) {
        arguments[SIGNALS] = (uint64_t)&held_back;
        arguments[SIGNALS_SIZE] = sizeof held_back;
    }
    mt_cut_submission_wait(arguments);
    return true;
}

#else

bool mt_cut_submission_is(const void *context, const struct mt_call *seen) {
    (void)context, (void)seen;
    return false;
}

bool mt_cut_submission_finish(void *context, const struct mt_call *seen) {
    (void)context, (void)seen;
    return false;
}

#endif
