/* Dispositions that the program sets: a signal that the recorder has taken for requests is to be
 * the program's own again. A tick would end a program that sets all to their defaults. */
#define _GNU_SOURCE
#include "events/hook.h"

#include "process/recording.h"
#include "snapshot/snapshot_signals.h"
#include <errno.h>

/* Those of a vfork child are its own, and the memory its parent's. */
static void yield_signal(int signal) {
    if ((mt_snapshot_signals_requests() >> (signal - 1) & 1) && mt_recording_owns_trace())
        mt_snapshot_signals_yield();
}

static bool is_real_signal(int signal) {
    return signal > 0 && signal <= 64;
}

int MT_HOOK_NAME(sigaction)(int, const struct sigaction *, struct sigaction *);
void (*MT_HOOK_NAME(signal)(int, void (*)(int)))(int);

MT_HOOK int MT_HOOK_NAME(sigaction)(int signal, const struct sigaction *action,
                                    struct sigaction *before) {
    if (!mt_real.sigaction && (!mt_real_resolve() || !mt_real.sigaction)) {
        errno = ENOSYS;
        return -1;
    }
    if (action && is_real_signal(signal))
        yield_signal(signal);
    return mt_real.sigaction(signal, action, before);
}

MT_HOOK void (*MT_HOOK_NAME(signal)(int signal, void (*handler)(int)))(int) {
    if (!mt_real.signal && (!mt_real_resolve() || !mt_real.signal)) {
        errno = ENOSYS;
        return SIG_ERR;
    }
    if (is_real_signal(signal))
        yield_signal(signal);
    return (void (*)(int))mt_real.signal(signal, (void *)handler);
}
