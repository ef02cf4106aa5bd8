/* Shared by the files that define the exported functions.
 *
 * They guard and delegate, nothing else. In unit tests (no MT_EXPORT_HOOKS) they get a prefix and
 * stay inside, or the test process's own malloc would be replaced. */
#ifndef MT_HOOK_H
#define MT_HOOK_H

#include "real.h"
#include "recorder.h"
#include "sampling.h"

#ifdef MT_EXPORT_HOOKS
#    define MT_HOOK __attribute__((visibility("default")))
#    define MT_HOOK_NAME(name) name
#else
#    define MT_HOOK __attribute__((visibility("hidden")))
#    define MT_HOOK_NAME(name) mt_hook_##name
#endif

#define MT_BEGIN_CALL(operation_)                                                                  \
    struct mt_call call = {MT_CALLER_FRAME(), MT_ENTRY_PASS, operation_};                          \
    call.entry = mt_enter(call.caller.sp)

/* A hook in two halves: the exported one only asks whether the call is to be recorded, in a handful
 * of instructions and without a frame; the other one is jumped to, so that it sees the host's frame
 * where the exported one would. */
#define MT_RECORDING_HALF __attribute__((noinline))
#define MT_TAIL_CALL __attribute__((musttail)) return

/* Before the real functions are known, the bootstrap arena serves. */
static inline bool mt_is_early(void) {
    return mt_unlikely(__atomic_load_n(&mt_real.malloc, __ATOMIC_ACQUIRE) == NULL);
}

#endif
