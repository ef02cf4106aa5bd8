/* Limits that a program sets for itself: memory that the recorder has put aside may be in their
 * way.
 *
 * Without the C library's header, which has another type for the resource in each language. */
#include "events/hook.h"

#include "checks/heap_checks.h"
#include "lifecycle/lifecycle.h"
#include <errno.h>

int MT_HOOK_NAME(setrlimit)(int, const void *);
int MT_HOOK_NAME(setrlimit64)(int, const void *);
int MT_HOOK_NAME(prlimit)(pid_t, int, const void *, void *);
int MT_HOOK_NAME(prlimit64)(pid_t, int, const void *, void *);

static int missing(void) {
    errno = ENOSYS;
    return -1;
}

/* The limits of a vfork child are its own, and the memory its parent's. */
static int heed(int result) {
    if (result == 0 && mt_recording_owns_trace())
        mt_heap_checks_heed_limit();
    return result;
}

#define MT_SETTER(name)                                                                            \
    MT_HOOK int MT_HOOK_NAME(name)(int resource, const void *limit) {                              \
        if (MT_REAL_IS_MISSING(name))                                                              \
            return missing();                                                                      \
        return heed(mt_real.name(resource, limit));                                                \
    }
#define MT_SETTER_OF_PROCESS(name)                                                                 \
    MT_HOOK int MT_HOOK_NAME(name)(pid_t process, int resource, const void *limit, void *before) { \
        if (MT_REAL_IS_MISSING(name))                                                              \
            return missing();                                                                      \
        return heed(mt_real.name(process, resource, limit, before));                               \
    }

MT_SETTER(setrlimit)
MT_SETTER(setrlimit64)
MT_SETTER_OF_PROCESS(prlimit)
MT_SETTER_OF_PROCESS(prlimit64)
