/* Shared by the files that define the exported functions.
 *
 * They guard and delegate, nothing else. In unit tests (no MT_EXPORT_HOOKS) they get a prefix and
 * stay inside, or the test process's own malloc would be replaced. */
#ifndef MT_HOOK_H
#define MT_HOOK_H

#include "base/os_call.h"
#include "events/hidden_block.h"
#include "events/recorder.h"
#include "events/sampling.h"
#include "loader/real.h"
#include <errno.h>

/* Those of a sample run a few instructions millions of times: each in a cache line of its own.
 *
 * noinline keeps the compiler from moving what is seldom executed to a function of its own, with a
 * frame that would be taken for the hook's (Swift's clang does, LLVM's HotColdSplitting). */
#ifdef MT_EXPORT_HOOKS
#    define MT_HOOK __attribute__((visibility("default"), noinline, aligned(64)))
#    define MT_HOOK_NAME(name) name
#else
#    define MT_HOOK __attribute__((visibility("hidden"), noinline))
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

/* After the real call: whether an allocation is to be recorded. */
static inline bool mt_records_allocation(const struct mt_call *call, const void *block,
                                         size_t size) {
    return mt_likely(call->entry != MT_ENTRY_PASS) && mt_sampling_takes(block, size);
}

/* Before the real call: whether the end of a block is to be recorded. Once per free, as
 * mt_sampling_ignores. */
static inline bool mt_records_deallocation(const struct mt_call *call, const void *block) {
    return !mt_sampling_ignores(block) && mt_likely(call->entry != MT_ENTRY_PASS);
}

/* After the real call: records an allocation, where it is to be recorded. */
static inline void mt_note_allocation(const struct mt_call *call, const void *block, size_t size,
                                      size_t alignment) {
    if (mt_records_allocation(call, block, size))
        mt_record_allocation(call, block, size, alignment);
}

/* Before the real call: records the end of a block, where it is to be recorded. */
static inline void mt_note_deallocation(const struct mt_call *call, const void *block, size_t size,
                                        size_t alignment) {
    if (mt_records_deallocation(call, block))
        mt_record_deallocation(call, block, size, alignment);
}

/* After a real realloc to a size above 0, whose call is recorded: the old block may be in the
 * sample, and the new one, each for itself.
 *
 * was_taken  whether the beginning was recorded, which is the end of `block`
 * moved      NULL when it failed */
static inline void mt_note_resized(const struct mt_call *call, bool was_taken, const void *block,
                                   const void *moved, size_t size) {
    if (was_taken && !moved)
        mt_sampling_restore(block);
    bool is_taken = (moved || !was_taken) && mt_sampling_takes(moved, size);
    if (was_taken && (is_taken || !moved))
        mt_record_realloc_end(call, moved, size);
    else if (was_taken)
        mt_record_realloc_left(call, size);
    else if (is_taken)
        mt_record_allocation(call, moved, size, 0);
}

/* Ends an allocation hook. Returns the block. */
static inline void *mt_end_allocation(const struct mt_call *call, void *block, size_t size,
                                      size_t alignment) {
    mt_hidden_block hidden = mt_hide_block(block);
    mt_note_allocation(call, block, size, alignment);
    mt_leave(call->entry);
    return mt_show_block(hidden);
}

/* A system call, as the C library would make it, for hooks whose real function is not known yet. A
 * program's own allocator makes some while it sets itself up under a lock, to map memory or to name
 * it (Chromium's): to look names up now would deadlock, because the loader allocates a message for
 * each name that is nowhere. */
static inline long mt_ask_kernel(long number, long a, long b, long c, long d, long e, long f) {
    long result = mt_call6(number, a, b, c, d, e, f);
    /* Greater ones are addresses. */
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

/* Before the real functions are known, the bootstrap arena serves. */
static inline bool mt_is_early(void) {
    return mt_unlikely(__atomic_load_n(&mt_real.malloc, __ATOMIC_ACQUIRE) == NULL);
}

/* What the loader allocates for a library of ours comes from the arena, too: the host finds its
 * heap as it would be without us, also where it reads memory that it never wrote. */
static inline bool mt_serves_from_arena(const struct mt_call *call) {
    return mt_is_early() || (mt_unlikely(call->entry == MT_ENTRY_LANE) && mt_tls.is_own);
}

#endif
