/* From a hook to an event in the trace.
 *
 * A hook asks mt_enter() how it may record, makes the real call, and says what happened. Order
 * rests on when the stamp is taken: deallocations before the real call, allocations after it
 * (clock.h). Nothing here allocates through the host, waits for a lock that an interrupted frame
 * of this thread may hold, or changes errno. */
#ifndef MT_RECORDER_H
#define MT_RECORDER_H

#include "events/thread_state.h"
#include "memtrace_format.h"
#include "unwind/unwinder.h"

/* Whether a realloc has left a block where it was; cleared in forked children. */
MT_INTERNAL extern bool mt_has_kept_a_place;

static inline void mt_note_place(const void *block, const void *moved) {
    if (moved == block && !mt_has_kept_a_place)
        mt_has_kept_a_place = true;
}

enum mt_entry {
    MT_ENTRY_RECORD, /* with a stack, into the thread's own chunk; the thread is inside a hook */
    MT_ENTRY_LANE,   /* without a stack, into the shared lane: nested, late, or our own */
    MT_ENTRY_PASS    /* not at all: there is no recording */
};

/* The cold half of mt_enter: first call of a thread or process, forked child, nested call. */
enum mt_entry mt_enter_slow(uintptr_t sp);
/* mt_enter_slow() where a hook is running already, and where only this one is. */
enum mt_entry mt_enter_nested(uintptr_t sp);
enum mt_entry mt_enter_unready(uintptr_t sp);

/* sp: the caller's stack pointer (mt_frame.sp). Pair a MT_ENTRY_RECORD with mt_leave(). */
static inline enum mt_entry mt_enter(uintptr_t sp) {
    if (mt_unlikely(mt_tls.inside))
        return mt_enter_nested(sp);
    /* In this order: a handler that finds a hook running compares with its stack pointer, and a
     * fork from a handler is either seen below or finds the hook running. */
    mt_tls.entered = mt_entered_at(sp);
    __asm__ volatile("" ::: "memory");
    mt_tls.inside = 1;
    __asm__ volatile("" ::: "memory");
    return mt_likely(mt_thread_is_current()) ? MT_ENTRY_RECORD : mt_enter_unready(sp);
}

static inline void mt_leave(enum mt_entry entry) {
    if (mt_likely(entry == MT_ENTRY_RECORD))
        mt_tls.inside = 0;
}

/* What a hook knows about its call. */
struct mt_call {
    struct mt_frame caller;
    enum mt_entry entry;
    uint8_t operation; /* enum mt_operation */
};

/* After the real call. block may be NULL: then a failed allocation is recorded. alignment counts
 * for the operations that carry one. */
void mt_record_allocation(const struct mt_call *call, const void *block, size_t size,
                          size_t alignment);

/* Before the real call. size and alignment count for the operations that carry them. */
void mt_record_deallocation(const struct mt_call *call, const void *block, size_t size,
                            size_t alignment);

/* After a real realloc of a block, whose begin was recorded as a deallocation by
 * MT_OP_REALLOC_BEGIN. moved is NULL when it failed. */
void mt_record_realloc_end(const struct mt_call *call, const void *moved, size_t size);
/* The same, of a block in the sample that became one which is not (sampling.h). */
void mt_record_realloc_left(const struct mt_call *call, size_t size);

#endif
