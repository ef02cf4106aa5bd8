/* Calls after which files may be out of reach: another user, root directory, namespace.
 *
 * A forked child creates its trace when it first does something that is recorded. One that gives up
 * its rights before (privilege separation of a server) could not any more, and nothing would tell
 * of it. Nor could a daemon that has closed all descriptors go on with its trace. So these begin
 * the trace, or open it again, and pass on by a jump: the C library's setuid and its like change
 * all threads of the process, which is for it to do.
 *
 * They are async-signal-safe, and are called by children of programs with threads, and by vfork
 * children: for those nothing happens. */
#define _GNU_SOURCE
#include "events/hook.h"

#include "lifecycle/lifecycle.h"
#include <errno.h>
#include <sys/types.h>

/* X(name, parameters, arguments): all return an int, -1 for failure. */
#define MT_FOR_EACH_CONFINING(X)                                                                   \
    X(setuid, (uid_t user), (user))                                                                \
    X(setgid, (gid_t group), (group))                                                              \
    X(seteuid, (uid_t user), (user))                                                               \
    X(setegid, (gid_t group), (group))                                                             \
    X(setreuid, (uid_t real, uid_t effective), (real, effective))                                  \
    X(setregid, (gid_t real, gid_t effective), (real, effective))                                  \
    X(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))             \
    X(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))             \
    X(setgroups, (size_t count, const gid_t *groups), (count, groups))                             \
    X(capset, (void *header, const void *data), (header, data))                                    \
    X(chroot, (const char *path), (path))                                                          \
    X(pivot_root, (const char *new_root, const char *put_old), (new_root, put_old))                \
    X(unshare, (int flags), (flags))                                                               \
    X(setns, (int fd, int kind), (fd, kind))

#define MT_CONFINING_HOOK(name, parameters, arguments)                                             \
    int MT_HOOK_NAME(name) parameters;                                                             \
    MT_HOOK int MT_HOOK_NAME(name) parameters {                                                    \
        mt_lifecycle_before_confinement();                                                         \
        if (MT_REAL_IS_MISSING(name)) {                                                            \
            errno = ENOSYS;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        MT_TAIL_CALL mt_real.name arguments;                                                       \
    }

MT_FOR_EACH_CONFINING(MT_CONFINING_HOOK)
