/* See resume.h. */
#define _GNU_SOURCE
#include "snapshot/resume.h"

#if defined(__x86_64__)

#    include "base/newer_calls.h"
#    include "base/os_threads.h"
#    include "snapshot/cut_submission.h"
#    include "snapshot/cut_transfer.h"
#    include "snapshot/noted_wait.h"
#    include "snapshot/park.h"
#    include "snapshot/snapshot_signals.h"
#    include "snapshot/wait_on.h"
#    include "snapshot/wait_socket.h"
#    include <string.h>
#    include <time.h>
#    include <ucontext.h>

/* The time limit of these waits for a futex is a moment; that of FUTEX_WAIT is a time. */
static bool waits_until(uint64_t operation) {
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
        return true;
    default:
        return false;
    }
}

/* Flags of io_uring_enter with which an argument may hold a time limit: IORING_ENTER_EXT_ARG and
 * IORING_ENTER_EXT_ARG_REG. */
enum { MAY_HAVE_A_LIMIT = 1 << 3 | 1 << 6 };

/* True when the call may begin anew: see resume.h. */
static bool may_begin_anew(const struct mt_call *call) {
    const uint64_t *arguments = call->arguments;
    switch (call->number) {
    case SYS_poll:
        return (int)arguments[2] < 0;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return (int)arguments[3] < 0;
    case SYS_epoll_pwait2:
    case SYS_semtimedop:
        return arguments[3] == 0;
    case SYS_io_getevents:
    case SYS_io_pgetevents:
        return arguments[4] == 0;
    case SYS_io_uring_enter:
        return !(arguments[3] & MAY_HAVE_A_LIMIT);
    case SYS_select: /* these write back what is left */
    case SYS_pselect6:
    case SYS_ppoll:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_semop:
    case SYS_msgrcv:
    case SYS_msgsnd:
        return true;
    case SYS_futex:
        return waits_until(arguments[1]);
    case SYS_rt_sigtimedwait:
        return arguments[2] == 0;
    case SYS_nanosleep:
        return arguments[0] == arguments[1];
    case SYS_clock_nanosleep:
        return (arguments[1] & TIMER_ABSTIME) || arguments[2] == arguments[3];
    default:
        return false;
    }
}

static bool has_handler(int signal) {
    struct mt_os_action action;
    return mt_os_action(signal, NULL, &action) >= 0 && action.handler != NULL &&
           action.handler != MT_SIGNAL_IGNORED;
}

/* Whether a handler of the program's will run when ours returns: a signal that is not held back has
 * come while the thread stood still, and is to end the call. Not one of a further snapshot, nor one
 * that does nothing, or stops the process, which end no call; it waits only since we hold it back.
 */
static bool is_to_be_interrupted(const ucontext_t *context) {
    enum { LAST_SIGNAL = 64 };
    uint64_t held_back, asks = mt_snapshot_signals_requests() | mt_park_signals();
    memcpy(&held_back, &context->uc_sigmask, sizeof held_back);
    uint64_t coming = mt_os_pending_signals() & ~held_back & ~asks;
    for (int signal = 1; coming != 0 && signal <= LAST_SIGNAL; signal++)
        if (coming >> (signal - 1) & 1 && has_handler(signal))
            return true;
    return false;
}

void mt_resume_call(void *context, const struct mt_call *seen) {
    enum { INSTRUCTION = 2 };
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct mt_call call;
    mt_wait_on_again(context);
    if (mt_cut_transfer_finish(context, seen) || mt_cut_submission_finish(context, seen) ||
        !mt_call_read_interrupted(&call, context, seen))
        return;
    bool has_limit = !may_begin_anew(&call);
    if (has_limit && mt_wait_on_is_kept(&call) && !mt_noted_wait_is(&call)) {
        mt_wait_on(context, !seen);
        return;
    }
    if (is_to_be_interrupted(context))
        return;
    if (has_limit && !mt_noted_wait_shorten(&call, context) && !mt_wait_socket(&call, context))
        return;
    registers[REG_RAX] = call.number;
    registers[REG_RIP] -= INSTRUCTION;
}

#else

void mt_resume_call(void *context, const struct mt_call *seen) {
    (void)context, (void)seen;
}

#endif
