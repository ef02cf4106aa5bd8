/* Where the C library calls the recorder: in forks and at the end. See callbacks.h. */
#define _GNU_SOURCE
#include "lifecycle/callbacks.h"

#include "base/config.h"
#include "base/tls.h"
#include "bundled/bundled_allocator.h"
#include "events/pausing.h"
#include "events/recorder.h"
#include "lifecycle/exit_frame.h"
#include "lifecycle/lifecycle.h"
#include "loader/image_map.h"
#include "loader/loader_gate.h"
#include "loader/real.h"
#include "process/recording.h"
#include "process/trace_folder.h"
#include "snapshot/inherited_pages.h"
#include "snapshot/snapshot.h"
#include "snapshot/snapshot_signals.h"
#include "trace/meta_writer.h"
#include "trace/trace_file.h"
#include "unwind/libunwind_backend.h"
#include "unwind/spare_stack.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef MT_EXPORT_HOOKS

static void at_exit(int status, void *context) {
    (void)context;
    if (!mt_lifecycle_has_trace())
        return;
    mt_lifecycle_end(MT_END_EXIT, status);
    mt_snapshot_at_end(MT_SNAPSHOT_AT_EXIT, status, mt_exit_frame(MT_CALLER_FRAME()));
    mt_lifecycle_seal();
}

/* The hook of quick_exit has noted the status; here the host's handlers have run, too. */
static void at_quick_exit_last(void) {
    if (mt_recording_owns_trace())
        mt_snapshot_at_end(MT_SNAPSHOT_AT_QUICK, mt_trace_file.header->end_status,
                           MT_CALLER_FRAME());
    mt_lifecycle_seal();
}

/* The child cannot look at the parent's trace: what it goes on as is seen here. */
static void before_fork(void) {
    mt_loader_gate_before_fork();
    if (mt_recording_owns_trace() && mt_pausing_is_possible)
        mt_pausing_is_paused();
}

static void after_fork_in_parent(void) {
    mt_loader_gate_after_fork_in_parent();
    mt_trace_folder_after_fork();
}

/* A fork from a signal handler in the middle of a hook: the hook will go on in the child when the
 * handler returns, and must find memory where windows of the parent's trace were, and no window of
 * the child's before its recording has started. */
static void after_fork_in_child(void) {
    mt_loader_gate_after_fork_in_child();
    mt_inherited_pages_begin();
    mt_spare_stack_survive_fork();
    if (!(mt_tls.inside || mt_tls.is_late) || !mt_recording_is_forked())
        return;
    mt_os_map_pages_at(mt_trace_file.header, MT_FILE_HEADER_SIZE);
    mt_trace_file_stop(MT_STOP_NONE, 0);
    mt_thread_state_survive_fork();
    mt_stack_table_survive_fork();
    mt_image_map_survive_fork();
    mt_meta_reset();
}

/* Whether stacks are taken. Loading a library allocates by the program's own allocator, if it has
 * one, whose time begins later (GNU Common Lisp crashes); what goes through that is not recorded.
 */
static bool needs_libunwind(void) {
    return mt_config.mappings || mt_bundled_reaches("malloc") ||
           !mt_real_overriding_image("malloc");
}

/* on_exit handlers run in reverse order: registered first, ours is the last, after the host's own
 * and after the destructors of its libraries; the first in a process that was running already. */
void mt_callbacks_begin(void) {
    int saved = errno;
    on_exit(at_exit, NULL);
    at_quick_exit(at_quick_exit_last);
    mt_snapshot_signals_begin();
    mt_tls.inside = mt_tls.is_own = 1;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    if (needs_libunwind())
        mt_libunwind_load();
    mt_tls.inside = mt_tls.is_own = 0;
    errno = saved;
}

#endif
