/* Ends of the process that exit handlers do not see, libraries, thread names, locked memory,
 * and sandboxes. */
#define _GNU_SOURCE
#include "base/config.h"
#include "events/crash.h"
#include "events/hook.h"

#include "base/locked_memory.h"
#include "lifecycle/lifecycle.h"
#include "lifecycle/sandbox.h"
#include "loader/attached.h"
#include "loader/deep_bind.h"
#include "loader/image_map.h"
#include "snapshot/snapshot.h"
#include "trace/trace_file.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void MT_HOOK_NAME(_exit)(int) __attribute__((noreturn));
void MT_HOOK_NAME(_Exit)(int) __attribute__((noreturn));
void MT_HOOK_NAME(quick_exit)(int) __attribute__((noreturn));
void MT_HOOK_NAME(abort)(void) __attribute__((noreturn));
int MT_HOOK_NAME(daemon)(int, int);
void *MT_HOOK_NAME(dlopen)(const char *, int);
void *MT_HOOK_NAME(dlmopen)(Lmid_t, const char *, int);
int MT_HOOK_NAME(dlclose)(void *);
int MT_HOOK_NAME(mlockall)(int);
int MT_HOOK_NAME(prctl)(int, ...);
int MT_HOOK_NAME(pthread_setname_np)(pthread_t, const char *);

/* As the C library does, which knows what to do where a sandbox refuses exit_group. */
static _Noreturn void end(int status) {
    if (mt_real._exit)
        mt_real._exit(status);
    mt_os_exit_group(status);
}

MT_HOOK void MT_HOOK_NAME(_exit)(int status) {
    mt_lifecycle_end(MT_END_UEXIT, status);
    mt_snapshot_at_end(MT_SNAPSHOT_AT_UEXIT, status, MT_CALLER_FRAME());
    mt_lifecycle_seal();
    end(status);
}

MT_HOOK void MT_HOOK_NAME(_Exit)(int status) {
    mt_lifecycle_end(MT_END_UEXIT, status);
    mt_snapshot_at_end(MT_SNAPSHOT_AT_UEXIT, status, MT_CALLER_FRAME());
    mt_lifecycle_seal();
    end(status);
}

MT_HOOK void MT_HOOK_NAME(quick_exit)(int status) {
    mt_lifecycle_end(MT_END_QUICK, status);
    if (mt_real.quick_exit)
        mt_real.quick_exit(status);
    mt_os_exit_group(status);
}

MT_HOOK void MT_HOOK_NAME(abort)(void) {
    if (mt_lifecycle_has_trace())
        mt_crash_note_abort(MT_CALLER_FRAME());
    mt_lifecycle_end(MT_END_ABORT, 6);
    mt_snapshot_at_end(MT_SNAPSHOT_AT_ABORT, 6, MT_CALLER_FRAME());
    mt_lifecycle_seal();
    if (mt_real.abort)
        mt_real.abort();
    __builtin_trap();
}

/* The C library forks, and ends the caller by an _exit of its own, past our hook: what is to be
 * said of the end is said before. Who comes back is the child, or the caller if it failed. */
MT_HOOK int MT_HOOK_NAME(daemon)(int keeps_directory, int keeps_files) {
    if (MT_REAL_IS_MISSING(daemon)) {
        errno = ENOSYS;
        return -1;
    }
    bool is_announced = mt_lifecycle_has_trace();
    if (is_announced) {
        mt_trace_file_end(MT_END_UEXIT, 0);
        mt_snapshot_before_end(MT_SNAPSHOT_AT_UEXIT, 0, MT_CALLER_FRAME());
        mt_lifecycle_seal();
    }
    int result = mt_real.daemon(keeps_directory, keeps_files);
    int saved = errno;
    if (is_announced && mt_recording_owns_trace())
        mt_trace_file_end(MT_END_NONE, 0);
    errno = saved;
    return result;
}

/* ---- Libraries ---- */

/* For a library that binds past us; others are opened by a jump, so that the loader sees whose call
 * it is. What it may search depends on that. */
MT_COLD static void *open_deep(const char *file, int mode) {
    struct mt_deep_bind *before = mt_deep_bind_begin();
    void *library = mt_real.dlopen(file, mode);
    if (before)
        mt_deep_bind_end(before, library);
    return library;
}

/* Into a process that was running already libraries come bound past us, too; and they may have an
 * allocator for themselves that is to be recorded. */
MT_COLD static void *open_and_look(const char *file, int mode) {
    void *library = mt_real.dlopen(file, mode);
    int saved = errno;
    if (library && mt_recording_owns_trace())
        mt_image_map_refresh();
    errno = saved;
    return library;
}

MT_HOOK void *MT_HOOK_NAME(dlopen)(const char *file, int mode) {
    if (MT_REAL_IS_MISSING(dlopen))
        return NULL;
    if (mt_unlikely(mode & RTLD_DEEPBIND) && file && !(mode & RTLD_NOLOAD) &&
        mt_lifecycle_has_trace()) {
        if (mt_deep_bind_may_call(file))
            return open_deep(file, mode);
        mt_deep_bind_await(file);
    }
    if (mt_unlikely(mt_is_attached || mt_config.bundled_allocator) && file &&
        mt_deep_bind_may_call(file))
        return open_and_look(file, mode);
    MT_TAIL_CALL mt_real.dlopen(file, mode);
}

/* In a new namespace, a library gets a C library of its own, whose allocator is not ours. */
MT_COLD static void *open_apart(Lmid_t space, const char *file, int mode) {
    void *library = mt_real.dlmopen(space, file, mode);
    if (library)
        mt_deep_bind_note_unseen(file);
    return library;
}

MT_HOOK void *MT_HOOK_NAME(dlmopen)(Lmid_t space, const char *file, int mode) {
    if (MT_REAL_IS_MISSING(dlmopen))
        return NULL;
    if (space == LM_ID_NEWLM && file && mt_lifecycle_has_trace()) {
        if (mt_deep_bind_may_call(file))
            return open_apart(space, file, mode);
        mt_deep_bind_note_unseen(file);
    }
    MT_TAIL_CALL mt_real.dlmopen(space, file, mode);
}

MT_HOOK int MT_HOOK_NAME(dlclose)(void *handle) {
    if (!mt_real.dlclose)
        mt_real_resolve();
    int result = mt_real.dlclose ? mt_real.dlclose(handle) : -1;
    int saved = errno;
    if (mt_recording_owns_trace())
        mt_image_map_after_unload();
    errno = saved;
    return result;
}

MT_HOOK int MT_HOOK_NAME(pthread_setname_np)(pthread_t thread, const char *name) {
    if (!mt_real.pthread_setname_np)
        mt_real_resolve();
    int result = mt_real.pthread_setname_np ? mt_real.pthread_setname_np(thread, name) : ENOSYS;
    if (result == 0 && thread == pthread_self() && mt_recording_owns_trace() &&
        mt_thread_is_current())
        mt_thread_note_name();
    return result;
}

/* ---- Locked memory ---- */

MT_HOOK int MT_HOOK_NAME(mlockall)(int flags) {
    if (MT_REAL_IS_MISSING(mlockall)) {
        errno = ENOSYS;
        return -1;
    }
    int saved = errno, result = mt_real.mlockall(flags);
    if (!mt_recording_owns_trace())
        return result;
    if (result == 0) {
        mt_locked_memory_let_go(flags);
    } else if (errno == ENOMEM && (flags & MCL_CURRENT)) {
        if (mt_locked_memory_lock_others(flags)) {
            errno = saved;
            return 0;
        }
        errno = ENOMEM;
    }
    return result;
}

/* ---- Seccomp ----
 *
 * A filter that kills for system calls it does not list would kill the host for ours. One way to
 * install one is prctl, the other syscall (interpose_syscall.c). */

MT_HOOK int MT_HOOK_NAME(prctl)(int option, ...) {
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long);
    unsigned long c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
    va_end(list);
    mt_sandbox_before_prctl(option, a, b);
    if (mt_real.prctl)
        return mt_real.prctl(option, a, b, c, d);
    return (int)mt_ask_kernel(SYS_prctl, option, (long)a, (long)b, (long)c, (long)d, 0);
}
