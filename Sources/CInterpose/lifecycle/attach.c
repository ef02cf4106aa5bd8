/* See attach.h. */
#define _GNU_SOURCE
#include "lifecycle/attach.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/text.h"
#include "base/tls.h"
#include "events/hook.h"
#include "lifecycle/callbacks.h"
#include "lifecycle/lifecycle.h"
#include "loader/real.h"
#include "memtrace_attach.h"
#include "snapshot/snapshot.h"
#include "trace/trace_file.h"
#include <errno.h>

bool mt_attach_is_expected(void) {
    Dl_info own;
    if (!dladdr(&mt_real, &own) || !own.dli_fname)
        return false;
    const char *name = mt_text_last_component(own.dli_fname);
    size_t before = (size_t)(name - own.dli_fname), mark = sizeof MT_ATTACH_MARK - 1;
    return before > mark && mt_text_has_prefix(name - mark, MT_ATTACH_MARK);
}

#ifdef MT_EXPORT_HOOKS

int MT_HOOK_NAME(memtrace_attach)(char **options, char *message, unsigned long size);

/* Begins the recording: called once the recorder was loaded into a process that is running, by a
 * thread that is in no function of the C library.
 *
 * options  "NAME=value" of the recorder's variables, ended by NULL
 * message  [size] of the caller's: why it cannot be recorded, else ""
 * returns  an mt_attach_result */
MT_HOOK int MT_HOOK_NAME(memtrace_attach)(char **options, char *message, unsigned long size) {
    int saved = errno;
    if (mt_recording_state() != MT_UNSTARTED)
        return MT_ATTACH_RECORDED_ALREADY;
    mt_diag_into(message, size);
    mt_lifecycle_note_load(mt_clock_after());
    mt_lifecycle_attach(options);
    mt_diag_into(NULL, 0);
    bool is_recording = mt_recording_state() == MT_RECORDING;
    if (is_recording) {
        mt_snapshot_meet_threads();
        mt_callbacks_begin();
    } else {
        mt_recording_set_state(MT_UNSTARTED); /* with another path for the trace it may succeed */
    }
    errno = saved;
    return is_recording ? MT_ATTACHED : MT_ATTACH_FAILED;
}

#endif
