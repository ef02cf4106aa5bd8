/* Writes events. See recorder.h. */
#include "events/recorder.h"

#include "events/lane.h"
#include "events/pausing.h"
#include "events/record_event.h"

bool mt_has_kept_a_place;

MT_COLD bool mt_record_make_room(struct mt_thread *thread) {
    mt_pausing_look_for_holder();
    if (mt_event_writer_refill(&thread->writer, mt_clock_event_time(), thread->index))
        return true;
    mt_trace_file_count(MT_COUNT_EVENTS_DROPPED, 1);
    return false;
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

/* ---- Allocations ---- */

MT_COLD void mt_record_allocation_in_lane(const struct mt_call *call, const void *block,
                                          size_t size, size_t alignment) {
    struct mt_stamp stamp = mt_stamp_after(call, block);
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
    mt_record_allocation_here(call, block, size, alignment);
}

/* ---- Ends of blocks ---- */

MT_COLD void mt_record_deallocation_in_lane(const struct mt_call *call, const void *block,
                                            size_t size, size_t alignment) {
    bool is_exact = mt_stamp_before_begin(call, block);
    mt_type_note_deallocation(block, MT_STACK_NONE);
    struct mt_stamp stamp = mt_stamp_before_end(is_exact);
    struct mt_event_writer *writer = open_lane(call, stamp.time);
    if (!writer)
        return;
    mt_event_deallocation(writer, stamp, call->operation, (uintptr_t)block, MT_STACK_NONE, size,
                          alignment);
    mt_lane_release();
}

void mt_record_deallocation(const struct mt_call *call, const void *block, size_t size,
                            size_t alignment) {
    mt_record_deallocation_here(call, block, size, alignment);
}

/* ---- Second halves of reallocs ---- */

MT_COLD static void record_outcome_in_lane(const struct mt_call *call, uint8_t operation,
                                           const void *block, size_t size) {
    struct mt_stamp stamp = mt_stamp_after(call, block);
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
    struct mt_thread *thread = mt_thread_with_room();
    if (mt_likely(thread != NULL))
        mt_event_realloc_end(&thread->writer, mt_stamp_after(call, block), operation,
                             (uintptr_t)block, size);
}

void mt_record_realloc_end(const struct mt_call *call, const void *moved, size_t size) {
    record_outcome(call, moved ? MT_OP_REALLOC_END : MT_OP_REALLOC_FAIL, moved, size);
}

void mt_record_realloc_left(const struct mt_call *call, size_t size) {
    record_outcome(call, MT_OP_REALLOC_LEFT, NULL, size);
}
