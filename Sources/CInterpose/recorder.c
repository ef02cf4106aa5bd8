/* Writes events. See recorder.h. */
#include "recorder.h"

#include "block_owner.h"
#include "clock.h"
#include "lane.h"
#include "trace_file.h"
#include "unwind_capture.h"

/* ---- Where an event goes ---- */

/* One event on its way: where it goes, and with which stack. */
struct sink {
    struct mt_event_writer *writer; /* NULL: dropped (counted) */
    uint32_t stack;
};

static struct sink drop(enum mt_counter counter) {
    mt_trace_file_count(counter, 1);
    return (struct sink){NULL, MT_STACK_NONE};
}

/* The next event of the thread has a time of its own, so as not to come before this one. */
static struct sink open_lane(const struct mt_call *call, uint64_t time) {
    mt_tls.must_stamp = 1;
    uint32_t thread = mt_tls.is_own ? MT_THREAD_RECORDER : mt_tls.index;
    struct mt_event_writer *writer = mt_lane_acquire(call->caller.sp, time, thread);
    if (!writer)
        return drop(MT_COUNT_EVENTS_NESTED_LOST);
    if (thread != MT_THREAD_RECORDER)
        mt_trace_file_count(MT_COUNT_EVENTS_NESTED, 1);
    return (struct sink){writer, MT_STACK_NONE};
}

static struct sink open_sink(const struct mt_call *call, uint64_t time, uint32_t stack) {
    if (call->entry != MT_ENTRY_RECORD)
        return open_lane(call, time);
    struct mt_thread *thread = mt_tls.thread;
    if (!mt_event_writer_ready(&thread->writer, time, thread->index))
        return drop(MT_COUNT_EVENTS_DROPPED);
    return (struct sink){&thread->writer, stack};
}

static void close_sink(const struct mt_call *call) {
    if (call->entry != MT_ENTRY_RECORD)
        mt_lane_release();
}

/* The common way: into the thread's own chunk, which has room.
 * returns  the thread; NULL: a sink is to be opened */
static inline struct mt_thread *common_way(const struct mt_call *call) {
    struct mt_thread *thread = mt_tls.thread;
    if (mt_unlikely(call->entry != MT_ENTRY_RECORD) ||
        mt_unlikely(mt_event_writer_is_full(&thread->writer)))
        return NULL;
    return thread;
}

/* ---- Its stack ---- */

MT_INLINE uint32_t capture_on(struct mt_thread *thread, const struct mt_call *call) {
    if (mt_unlikely(mt_unwind_depth == 0))
        return MT_STACK_NONE;
    return mt_unwind_capture(&thread->unwinder, &call->caller);
}

/* Once recording has stopped (a full disk), the host may go on for hours: no walk for an event that
 * will find no place. */
static bool will_be_dropped(void) {
    return mt_event_writer_is_full(&mt_tls.thread->writer) && mt_trace_file_has_stopped();
}

static uint32_t capture(const struct mt_call *call) {
    if (call->entry != MT_ENTRY_RECORD || will_be_dropped())
        return MT_STACK_NONE;
    return capture_on(mt_tls.thread, call);
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

static void record_failure(const struct mt_call *call, struct mt_stamp stamp, size_t size) {
    struct sink sink = open_sink(call, stamp.time, capture(call));
    if (!sink.writer)
        return;
    mt_event_failed(sink.writer, stamp, call->operation, sink.stack, size);
    close_sink(call);
}

MT_COLD static void record_uncommon_allocation(const struct mt_call *call, const void *block,
                                               size_t size, size_t alignment) {
    struct mt_stamp stamp = stamp_after(call, block);
    if (!block) {
        record_failure(call, stamp, size);
        return;
    }
    struct sink sink = open_sink(call, stamp.time, capture(call));
    if (!sink.writer)
        return;
    if (call->entry == MT_ENTRY_RECORD)
        mt_type_note_allocation(&mt_tls.thread->types, block, size, sink.stack);
    mt_event_allocation(sink.writer, stamp, call->operation, (uintptr_t)block, sink.stack, size,
                        alignment);
    close_sink(call);
}

void mt_record_allocation(const struct mt_call *call, const void *block, size_t size,
                          size_t alignment) {
    struct mt_thread *thread = common_way(call);
    if (mt_unlikely(!thread) || mt_unlikely(!block)) {
        record_uncommon_allocation(call, block, size, alignment);
        return;
    }
    struct mt_stamp stamp = stamp_after(call, block);
    uint32_t stack = capture_on(thread, call);
    mt_type_note_allocation(&thread->types, block, size, stack);
    mt_event_allocation(&thread->writer, stamp, call->operation, (uintptr_t)block, stack, size,
                        alignment);
}

/* ---- Ends of blocks ---- */

MT_COLD static void record_uncommon_deallocation(const struct mt_call *call, const void *block,
                                                 size_t size, size_t alignment) {
    bool is_exact = stamp_before_begin(call, block);
    uint32_t stack = capture(call);
    mt_type_note_deallocation(block, stack);
    struct mt_stamp stamp = stamp_before_end(is_exact);
    struct sink sink = open_sink(call, stamp.time, stack);
    if (!sink.writer)
        return;
    mt_event_deallocation(sink.writer, stamp, call->operation, (uintptr_t)block, sink.stack, size,
                          alignment);
    close_sink(call);
}

void mt_record_deallocation(const struct mt_call *call, const void *block, size_t size,
                            size_t alignment) {
    struct mt_thread *thread = common_way(call);
    if (mt_unlikely(!thread)) {
        record_uncommon_deallocation(call, block, size, alignment);
        return;
    }
    bool is_exact = stamp_before_begin(call, block);
    uint32_t stack = capture_on(thread, call);
    mt_type_note_deallocation(block, stack);
    mt_event_deallocation(&thread->writer, stamp_before_end(is_exact), call->operation,
                          (uintptr_t)block, stack, size, alignment);
}

/* ---- Second halves of reallocs ---- */

static inline void record_outcome(const struct mt_call *call, uint8_t operation, const void *block,
                                  size_t size) {
    struct mt_stamp stamp = stamp_after(call, block);
    struct mt_thread *thread = common_way(call);
    if (mt_likely(thread != NULL)) {
        mt_event_realloc_end(&thread->writer, stamp, operation, (uintptr_t)block, size);
        return;
    }
    struct sink sink = open_sink(call, stamp.time, MT_STACK_NONE);
    if (!sink.writer)
        return;
    mt_event_realloc_end(sink.writer, stamp, operation, (uintptr_t)block, size);
    close_sink(call);
}

void mt_record_realloc_end(const struct mt_call *call, const void *moved, size_t size) {
    record_outcome(call, moved ? MT_OP_REALLOC_END : MT_OP_REALLOC_FAIL, moved, size);
}

void mt_record_realloc_left(const struct mt_call *call, size_t size) {
    record_outcome(call, MT_OP_REALLOC_LEFT, NULL, size);
}
