/* Writes events. See recorder.h. */
#include "recorder.h"

#include "block_owner.h"
#include "clock.h"
#include "lane.h"
#include "trace_file.h"
#include "unwind_capture.h"

/* ---- Where an event goes ---- */

MT_COLD static bool make_room(struct mt_thread *thread) {
    if (mt_event_writer_refill(&thread->writer, mt_clock_event_time(), thread->index))
        return true;
    mt_trace_file_count(MT_COUNT_EVENTS_DROPPED, 1);
    return false;
}

/* The calling thread, whose chunk has room for an event; NULL: there is none any more (counted).
 * Comes first: once recording has stopped (a full disk), the host may go on for hours, and no stack
 * is to be walked for an event that will find no place. */
static inline struct mt_thread *thread_with_room(void) {
    struct mt_thread *thread = mt_tls.thread;
    if (mt_unlikely(mt_event_writer_is_full(&thread->writer)) && !make_room(thread))
        return NULL;
    return thread;
}

/* The next event of the thread has a time of its own, so as not to come before this one.
 * returns  the writer, to be given back with mt_lane_release; NULL: dropped (counted) */
static struct mt_event_writer *open_lane(const struct mt_call *call, uint64_t time) {
    mt_tls.must_stamp = 1;
    uint32_t thread = mt_tls.is_own ? MT_THREAD_RECORDER : mt_tls.index;
    struct mt_event_writer *writer = mt_lane_acquire(call->caller.sp, time, thread);
    if (!writer)
        mt_trace_file_count(MT_COUNT_EVENTS_NESTED_LOST, 1);
    else if (thread != MT_THREAD_RECORDER)
        mt_trace_file_count(MT_COUNT_EVENTS_NESTED, 1);
    return writer;
}

/* ---- Its stack ---- */

MT_INLINE uint32_t capture(struct mt_thread *thread, const struct mt_call *call) {
    if (mt_unlikely(mt_unwind_depth == 0))
        return MT_STACK_NONE;
    return mt_unwind_capture(&thread->unwinder, &call->caller);
}

/* ---- Its time ---- */

/* Whether other events order themselves by the time of this one, which is of that block (NULL: of
 * none). */
static inline bool needs_order(const struct mt_call *call, const void *block) {
    bool has_threads = mt_clock_orders_threads, has_own_chunk = call->entry == MT_ENTRY_RECORD;
    if (mt_likely(!(has_threads | mt_tls.must_stamp)) && mt_likely(has_own_chunk))
        return false;
    bool must_stamp = mt_tls.must_stamp;
    mt_tls.must_stamp = 0;
    if (!has_threads)
        return true;
    uint32_t owner = mt_likely(has_own_chunk) ? mt_tls.thread->owner : MT_OWNER_NONE;
    return !mt_block_owner_take((uintptr_t)block, owner) || must_stamp;
}

/* After the real call. */
static inline struct mt_stamp stamp_after(const struct mt_call *call, const void *block) {
    bool is_exact = needs_order(call, block);
    uint64_t ticks = is_exact ? mt_clock_after() : mt_clock_now();
    return (struct mt_stamp){ticks >> MT_TICK_SHIFT, is_exact};
}

/* Before the real call, in two parts with the capture of the stack in between: what waits for the
 * host's instructions costs least at the entry, and the counter is then read beside the capture. */
static inline bool stamp_before_begin(const struct mt_call *call, const void *block) {
    bool is_exact = needs_order(call, block);
    if (is_exact)
        mt_clock_wait();
    return is_exact;
}

static inline struct mt_stamp stamp_before_end(bool is_exact) {
    return (struct mt_stamp){mt_clock_now() >> MT_TICK_SHIFT, is_exact};
}

/* ---- Allocations ---- */

MT_COLD static void record_allocation_in_lane(const struct mt_call *call, const void *block,
                                              size_t size, size_t alignment) {
    struct mt_stamp stamp = stamp_after(call, block);
    struct mt_event_writer *writer = open_lane(call, stamp.time);
    if (!writer)
        return;
    if (block)
        mt_event_allocation(writer, stamp, call->operation, (uintptr_t)block, MT_STACK_NONE, size,
                            alignment);
    else
        mt_event_failed(writer, stamp, call->operation, MT_STACK_NONE, size);
    mt_lane_release();
}

void mt_record_allocation(const struct mt_call *call, const void *block, size_t size,
                          size_t alignment) {
    if (mt_unlikely(call->entry != MT_ENTRY_RECORD)) {
        record_allocation_in_lane(call, block, size, alignment);
        return;
    }
    struct mt_thread *thread = thread_with_room();
    if (mt_unlikely(!thread))
        return;
    struct mt_stamp stamp = stamp_after(call, block);
    uint32_t stack = capture(thread, call);
    if (mt_unlikely(!block)) {
        mt_event_failed(&thread->writer, stamp, call->operation, stack, size);
        return;
    }
    mt_type_note_allocation(&thread->types, block, size, stack);
    mt_event_allocation(&thread->writer, stamp, call->operation, (uintptr_t)block, stack, size,
                        alignment);
}

/* ---- Ends of blocks ---- */

MT_COLD static void record_deallocation_in_lane(const struct mt_call *call, const void *block,
                                                size_t size, size_t alignment) {
    bool is_exact = stamp_before_begin(call, block);
    mt_type_note_deallocation(block, MT_STACK_NONE);
    struct mt_stamp stamp = stamp_before_end(is_exact);
    struct mt_event_writer *writer = open_lane(call, stamp.time);
    if (!writer)
        return;
    mt_event_deallocation(writer, stamp, call->operation, (uintptr_t)block, MT_STACK_NONE, size,
                          alignment);
    mt_lane_release();
}

void mt_record_deallocation(const struct mt_call *call, const void *block, size_t size,
                            size_t alignment) {
    if (mt_unlikely(call->entry != MT_ENTRY_RECORD)) {
        record_deallocation_in_lane(call, block, size, alignment);
        return;
    }
    struct mt_thread *thread = thread_with_room();
    if (mt_unlikely(!thread)) { /* whoever looks at the block is to stop, all the same */
        mt_type_note_deallocation(block, MT_STACK_NONE);
        return;
    }
    bool is_exact = stamp_before_begin(call, block);
    uint32_t stack = capture(thread, call);
    mt_type_note_deallocation(block, stack);
    mt_event_deallocation(&thread->writer, stamp_before_end(is_exact), call->operation,
                          (uintptr_t)block, stack, size, alignment);
}

/* ---- Second halves of reallocs ---- */

MT_COLD static void record_outcome_in_lane(const struct mt_call *call, uint8_t operation,
                                           const void *block, size_t size) {
    struct mt_stamp stamp = stamp_after(call, block);
    struct mt_event_writer *writer = open_lane(call, stamp.time);
    if (!writer)
        return;
    mt_event_realloc_end(writer, stamp, operation, (uintptr_t)block, size);
    mt_lane_release();
}

static inline void record_outcome(const struct mt_call *call, uint8_t operation, const void *block,
                                  size_t size) {
    if (mt_unlikely(call->entry != MT_ENTRY_RECORD)) {
        record_outcome_in_lane(call, operation, block, size);
        return;
    }
    struct mt_thread *thread = thread_with_room();
    if (mt_likely(thread != NULL))
        mt_event_realloc_end(&thread->writer, stamp_after(call, block), operation, (uintptr_t)block,
                             size);
}

void mt_record_realloc_end(const struct mt_call *call, const void *moved, size_t size) {
    record_outcome(call, moved ? MT_OP_REALLOC_END : MT_OP_REALLOC_FAIL, moved, size);
}

void mt_record_realloc_left(const struct mt_call *call, size_t size) {
    record_outcome(call, MT_OP_REALLOC_LEFT, NULL, size);
}
