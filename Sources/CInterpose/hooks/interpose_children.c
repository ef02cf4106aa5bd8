/* Waits for children of all kinds (__WALL, __WCLONE), as debuggers have them: the copy of the
 * process that writes a snapshot is one, which the program has not started and is not to be told
 * of. Others are passed on by a jump. All are cancellation points, and may be left without a
 * return. */
#define _GNU_SOURCE
#include "events/hook.h"

#include "snapshot/snapshot.h"
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static inline bool is_told_of_all(int options) {
    return mt_unlikely(options & (int)(__WALL | __WCLONE));
}

pid_t MT_HOOK_NAME(waitpid)(pid_t, int *, int);
pid_t MT_HOOK_NAME(wait3)(int *, int, struct rusage *);
pid_t MT_HOOK_NAME(wait4)(pid_t, int *, int, struct rusage *);
int MT_HOOK_NAME(waitid)(idtype_t, id_t, siginfo_t *, int);

static pid_t wait_for_own(pid_t pid, int *status, int options, struct rusage *usage) {
    for (;;) {
        pid_t found = mt_real.wait4(pid, status, options, usage);
        if (found <= 0 || !mt_snapshot_disown(found))
            return found;
    }
}

MT_HOOK pid_t MT_HOOK_NAME(waitpid)(pid_t pid, int *status, int options) {
    if (MT_REAL_IS_MISSING(waitpid))
        return (pid_t)mt_ask_kernel(SYS_wait4, pid, (long)status, options, 0, 0, 0);
    if (is_told_of_all(options))
        return wait_for_own(pid, status, options, NULL);
    MT_TAIL_CALL mt_real.waitpid(pid, status, options);
}

MT_HOOK pid_t MT_HOOK_NAME(wait3)(int *status, int options, struct rusage *usage) {
    if (MT_REAL_IS_MISSING(wait3))
        return (pid_t)mt_ask_kernel(SYS_wait4, -1, (long)status, options, (long)usage, 0, 0);
    if (is_told_of_all(options))
        return wait_for_own(-1, status, options, usage);
    MT_TAIL_CALL mt_real.wait3(status, options, usage);
}

MT_HOOK pid_t MT_HOOK_NAME(wait4)(pid_t pid, int *status, int options, struct rusage *usage) {
    if (MT_REAL_IS_MISSING(wait4))
        return (pid_t)mt_ask_kernel(SYS_wait4, pid, (long)status, options, (long)usage, 0, 0);
    if (is_told_of_all(options))
        return wait_for_own(pid, status, options, usage);
    MT_TAIL_CALL mt_real.wait4(pid, status, options, usage);
}

MT_HOOK int MT_HOOK_NAME(waitid)(idtype_t kind, id_t id, siginfo_t *info, int options) {
    if (MT_REAL_IS_MISSING(waitid))
        return (int)mt_ask_kernel(SYS_waitid, kind, (long)id, (long)info, options, 0, 0);
    if (!is_told_of_all(options) || !info)
        MT_TAIL_CALL mt_real.waitid(kind, id, info, options);
    for (;;) {
        int result = mt_real.waitid(kind, id, info, options);
        if (result != 0 || info->si_pid <= 0 || !mt_snapshot_disown(info->si_pid))
            return result;
    }
}
