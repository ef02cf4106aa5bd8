/* Ends the recording before a sandbox. See sandbox.h. */
#include "lifecycle/sandbox.h"

#include "base/os.h"
#include "checks/heap_checks.h"
#include "lifecycle/lifecycle.h"
#include "lifecycle/sandbox_filter.h"
#include "process/exec_environment.h"
#include "process/recording.h"
#include "snapshot/ending_signals.h"
#include "snapshot/snapshot_signals.h"
#include "trace/trace_file.h"
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>

/* Linux 5.11: https://docs.kernel.org/admin-guide/syscall-user-dispatch.html */
enum { DISPATCHES_CALLS = 59, DISPATCHES_NONE = 0 };

static void enter_sandbox(void) {
    if (!mt_lifecycle_has_trace())
        return;
    mt_heap_checks_rest();
    mt_ending_signals_leave();
    mt_snapshot_signals_leave();
    mt_trace_file_stop(MT_STOP_SANDBOX, 0);
    mt_recording_end();
    mt_exec_environment_leave();
}

static bool is_readable(const void *address, size_t length) {
    uintptr_t start = (uintptr_t)address, end = start + length;
    for (uintptr_t next = start; next < end; next = (next / MT_PAGE_SIZE + 1) * MT_PAGE_SIZE)
        if (!mt_os_is_readable(next))
            return false;
    return start <= end;
}

/* Whose filter cannot be read gets an error from the kernel. */
static bool spares_us(uintptr_t argument) {
    const struct sock_fprog *program = (const struct sock_fprog *)argument;
    return is_readable(program, sizeof *program) && program->len <= BPF_MAXINSNS &&
           is_readable(program->filter, program->len * sizeof *program->filter) &&
           mt_sandbox_filter_spares(program->filter, program->len);
}

static void enter_filter(uintptr_t argument) {
    if (!spares_us(argument))
        enter_sandbox();
}

/* Programs that only ask whether the kernel knows filters install none: Firefox and systemd ask
 * prctl, libseccomp seccomp(2), which takes neither flags nor an argument with strict mode. */
void mt_sandbox_before_seccomp(long operation, unsigned long flags, unsigned long argument) {
    bool is_strict = operation == SECCOMP_SET_MODE_STRICT && !flags && !argument;
    bool is_filter = operation == SECCOMP_SET_MODE_FILTER && argument;
    if (is_filter)
        enter_filter(argument);
    if (is_strict)
        enter_sandbox();
}

void mt_sandbox_before_prctl(long option, unsigned long argument, unsigned long next) {
    bool is_strict = argument == SECCOMP_MODE_STRICT;
    bool is_filter = argument == SECCOMP_MODE_FILTER && next;
    if (option == PR_SET_SECCOMP && is_filter)
        enter_filter(next);
    if ((option == PR_SET_SECCOMP && is_strict) ||
        (option == PR_SET_TSC && argument == PR_TSC_SIGSEGV) ||
        (option == DISPATCHES_CALLS && argument != DISPATCHES_NONE))
        enter_sandbox();
}
