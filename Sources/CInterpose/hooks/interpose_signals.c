/* Dispositions that the program sets: a signal that the recorder has taken for requests is to be
 * the program's own again. A tick would end a program that sets all to their defaults. Those that
 * end the process it sees and sets as if nobody had taken them (ending_signals.h). And the stacks
 * that its handlers are to run on (signal_stacks.h). */
#define _GNU_SOURCE
#include "events/hook.h"

#include "base/os_threads.h"
#include "events/fault_stack.h"
#include "process/recording.h"
#include "snapshot/ending_signals.h"
#include "snapshot/signal_stacks.h"
#include "snapshot/snapshot_signals.h"
#include <errno.h>

static bool is_ours(int signal) {
    return signal > 0 && signal <= 64 && mt_snapshot_signals_requests() >> (signal - 1) & 1;
}

/* Those of a vfork child are its own, and the memory its parent's. */
static void yield_signal(int signal) {
    if (is_ours(signal) && mt_recording_owns_trace())
        mt_snapshot_signals_yield();
}

static bool is_on_signal_stack(const struct sigaction *action) {
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN &&
           (action->sa_flags & SA_ONSTACK);
}

/* As sigaction(), with ours where the host sees and sets its own. */
static int set_disposition(int signal, const struct sigaction *action, struct sigaction *before) {
    struct sigaction ours;
    if (action && mt_ending_signals_stand_in(signal, (const void *)action->sa_handler, &ours))
        action = &ours;
    int result = mt_real.sigaction(signal, action, before);
    if (result < 0 || !before)
        return result;
    if (!action && is_ours(signal))
        *before = (struct sigaction){.sa_handler = SIG_DFL};
    mt_ending_signals_hide(signal, before);
    return result;
}

int MT_HOOK_NAME(sigaction)(int, const struct sigaction *, struct sigaction *);
void (*MT_HOOK_NAME(signal)(int, void (*)(int)))(int);

MT_HOOK int MT_HOOK_NAME(sigaction)(int signal, const struct sigaction *action,
                                    struct sigaction *before) {
    if (MT_REAL_IS_MISSING(sigaction)) {
        errno = ENOSYS;
        return -1;
    }
    if (action)
        yield_signal(signal);
    if (action && is_on_signal_stack(action) && mt_recording_owns_trace())
        mt_fault_stacks_end();
    return set_disposition(signal, action, before);
}

MT_HOOK void (*MT_HOOK_NAME(signal)(int signal, void (*handler)(int)))(int) {
    if (MT_REAL_IS_MISSING(signal)) {
        errno = ENOSYS;
        return SIG_ERR;
    }
    yield_signal(signal);
    struct sigaction ours, before;
    if (mt_ending_signals_stand_in(signal, (const void *)handler, &ours))
        return set_disposition(signal, &ours, &before) == 0 ? before.sa_handler : SIG_ERR;
    before.sa_handler = (void (*)(int))mt_real.signal(signal, (void *)handler);
    mt_ending_signals_hide(signal, &before);
    return before.sa_handler;
}

int MT_HOOK_NAME(sigaltstack)(const stack_t *, stack_t *);

static void hide_fault_stack(stack_t *stack) {
    if (stack &&
        mt_fault_stack_is((struct mt_signal_stack){(uintptr_t)stack->ss_sp, stack->ss_size}))
        *stack = (stack_t){.ss_flags = SS_DISABLE};
}

/* Asks the kernel what has come of it: flags may say that there is to be none. No signal comes
 * before that is known: another thread may stand still on the same stack already. */
MT_HOOK int MT_HOOK_NAME(sigaltstack)(const stack_t *stack, stack_t *before) {
    if (MT_REAL_IS_MISSING(sigaltstack)) {
        errno = ENOSYS;
        return -1;
    }
    if (!stack) {
        int result = mt_real.sigaltstack(stack, before);
        if (result == 0)
            hide_fault_stack(before);
        return result;
    }
    uint64_t signals = mt_os_block_signals();
    struct mt_signal_stack last = mt_os_signal_stack();
    int result = mt_real.sigaltstack(stack, before);
    if (result == 0) {
        hide_fault_stack(before);
        mt_signal_stacks_change((uint32_t)mt_os_tid(), last, mt_os_signal_stack());
        if (mt_signal_stacks_are_shared())
            mt_snapshot_signals_leave_stacks();
    }
    mt_os_restore_signals(signals);
    return result;
}
