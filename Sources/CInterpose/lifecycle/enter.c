/* How a hook may record: the cold half of mt_enter (recorder.h). */
#include "events/recorder.h"
#include "lifecycle/lifecycle.h"
#include "process/recording.h"
#include "trace/trace_file.h"
#include "unwind/stack_bounds.h"

/* A hook of this thread never returned: a longjmp out of a signal handler went past it. */
static bool was_abandoned(uintptr_t sp) {
    struct mt_thread *thread = mt_tls.thread;
    return thread ? mt_stack_bounds_has_left(&thread->unwinder, mt_tls.entered, sp)
                  : sp >= mt_tls.entered.sp && !mt_os_on_signal_stack();
}

/* Ends the hook that never returned. No handler may interrupt this: it would do the same. */
static void leave_abandoned(void) {
    uint64_t signals = mt_os_block_signals();
    if (mt_tls.thread)
        mt_thread_repair(mt_tls.thread);
    mt_tls.inside = mt_tls.is_bundled = 0;
    mt_os_restore_signals(signals);
}

enum mt_entry mt_enter_slow(uintptr_t sp) {
    if (mt_tls.passes)
        return MT_ENTRY_PASS;
    enum mt_state state = mt_recording_state();
    if (state == MT_UNSTARTED || mt_recording_is_forked()) {
        state = mt_lifecycle_start();
        mt_tls.inside = 0;
    }
    if (state != MT_RECORDING) {
        if (state != MT_OFF)
            mt_lifecycle_note_early_call();
        return MT_ENTRY_PASS;
    }
    if (mt_lifecycle_is_silent())
        return MT_ENTRY_PASS;
    if (mt_tls.is_own)
        return MT_ENTRY_LANE;
    if (mt_tls.inside) {
        if (!was_abandoned(sp))
            return mt_tls.is_bundled ? MT_ENTRY_PASS : MT_ENTRY_LANE;
        leave_abandoned();
    }
    if (mt_tls.is_late)
        return MT_ENTRY_LANE;
    if (mt_thread_is_current())
        return MT_ENTRY_RECORD;
    uint64_t signals = mt_os_block_signals();
    mt_tls.inside = 1;
    bool has_begun = mt_thread_begin();
    mt_tls.inside = 0;
    mt_os_restore_signals(signals);
    if (has_begun)
        return MT_ENTRY_RECORD;
    mt_trace_file_count(MT_COUNT_THREADS_LOST, 1);
    return MT_ENTRY_PASS;
}

static enum mt_entry go_inside(enum mt_entry entry, uintptr_t sp) {
    if (entry == MT_ENTRY_RECORD) {
        mt_tls.entered = mt_entered_at(sp);
        mt_tls.inside = 1;
    }
    return entry;
}

enum mt_entry mt_enter_nested(uintptr_t sp) {
    return go_inside(mt_enter_slow(sp), sp);
}

enum mt_entry mt_enter_unready(uintptr_t sp) {
    mt_tls.inside = 0;
    return mt_enter_nested(sp);
}
