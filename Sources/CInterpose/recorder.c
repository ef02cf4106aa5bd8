/* Writes events. See recorder.h. */
#include "recorder.h"

#include "clock.h"
#include "trace_file.h"

/* One event on its way: where it goes, and with which stack. */
struct sink {
    struct mt_event_writer *writer; /* NULL: dropped (counted) */
    uint32_t stack;
};

static struct sink drop(enum mt_counter counter) {
    mt_trace_file_count(counter, 1);
    return (struct sink){NULL, MT_STACK_NONE};
}

static struct sink open_lane(uint64_t time) {
    uint32_t thread = mt_tls.is_own ? MT_THREAD_RECORDER : mt_tls.index;
    struct mt_event_writer *writer = mt_lane_acquire(time, thread);
    if (!writer)
        return drop(MT_COUNT_EVENTS_NESTED_LOST);
    if (thread != MT_THREAD_RECORDER)
        mt_trace_file_count(MT_COUNT_EVENTS_NESTED, 1);
    return (struct sink){writer, MT_STACK_NONE};
}

static struct sink open_sink(const struct mt_call *call, uint64_t time, uint32_t stack) {
    if (mt_unlikely(call->entry != MT_ENTRY_RECORD))
        return open_lane(time);
    struct mt_thread *thread = mt_tls.thread;
    if (mt_unlikely(!mt_event_writer_ready(&thread->writer, time, thread->index)))
        return drop(MT_COUNT_EVENTS_DROPPED);
    return (struct sink){&thread->writer, stack};
}

static void close_sink(const struct mt_call *call, struct sink sink, struct mt_event *event) {
    mt_event_finish(event, sink.writer);
    if (mt_unlikely(call->entry != MT_ENTRY_RECORD))
        mt_lane_release();
}

static uint32_t capture(const struct mt_call *call) {
    if (mt_unlikely(call->entry != MT_ENTRY_RECORD || mt_unwind_depth == 0))
        return MT_STACK_NONE;
    return mt_unwind_capture(&mt_tls.thread->unwinder, call->caller);
}

static bool has_alignment(uint8_t operation) {
    return mt_operation_info(operation).has_alignment;
}

static void record_failure(const struct mt_call *call, uint64_t time, size_t size) {
    struct sink sink = open_sink(call, time, capture(call));
    if (!sink.writer)
        return;
    struct mt_event event = mt_event_begin(sink.writer, MT_OP_FAILED, time);
    mt_event_stack(&event, sink.writer, sink.stack);
    mt_event_number(&event, size);
    mt_event_number(&event, call->operation);
    close_sink(call, sink, &event);
}

void mt_record_allocation(const struct mt_call *call, const void *block, size_t size,
                          size_t alignment) {
    uint64_t time = mt_clock_after() >> MT_TICK_SHIFT;
    if (mt_unlikely(!block)) {
        record_failure(call, time, size);
        return;
    }
    struct sink sink = open_sink(call, time, capture(call));
    if (mt_unlikely(!sink.writer))
        return;
    struct mt_event event = mt_event_begin(sink.writer, call->operation, time);
    mt_event_address(&event, sink.writer, (uintptr_t)block);
    mt_event_stack(&event, sink.writer, sink.stack);
    mt_event_number(&event, size);
    if (has_alignment(call->operation))
        mt_event_number(&event, alignment);
    close_sink(call, sink, &event);
}

void mt_record_deallocation(const struct mt_call *call, const void *block, size_t size,
                            size_t alignment) {
    uint32_t stack = capture(call);
    uint64_t time = mt_clock_before() >> MT_TICK_SHIFT;
    struct sink sink = open_sink(call, time, stack);
    if (mt_unlikely(!sink.writer))
        return;
    struct mt_operation_info info = mt_operation_info(call->operation);
    struct mt_event event = mt_event_begin(sink.writer, call->operation, time);
    mt_event_address(&event, sink.writer, (uintptr_t)block);
    mt_event_stack(&event, sink.writer, sink.stack);
    if (info.has_size)
        mt_event_number(&event, size);
    if (info.has_alignment)
        mt_event_number(&event, alignment);
    close_sink(call, sink, &event);
}

void mt_record_realloc_begin(const struct mt_call *call, const void *block) {
    uint32_t stack = capture(call);
    uint64_t time = mt_clock_before() >> MT_TICK_SHIFT;
    struct sink sink = open_sink(call, time, stack);
    if (mt_unlikely(!sink.writer))
        return;
    struct mt_event event = mt_event_begin(sink.writer, MT_OP_REALLOC_BEGIN, time);
    mt_event_address(&event, sink.writer, (uintptr_t)block);
    mt_event_stack(&event, sink.writer, sink.stack);
    close_sink(call, sink, &event);
}

void mt_record_realloc_end(const struct mt_call *call, const void *moved, size_t size) {
    uint64_t time = mt_clock_after() >> MT_TICK_SHIFT;
    struct sink sink = open_sink(call, time, MT_STACK_NONE);
    if (mt_unlikely(!sink.writer))
        return;
    uint8_t operation = moved ? MT_OP_REALLOC_END : MT_OP_REALLOC_FAIL;
    struct mt_event event = mt_event_begin(sink.writer, operation, time);
    if (moved)
        mt_event_address(&event, sink.writer, (uintptr_t)moved);
    mt_event_number(&event, size);
    close_sink(call, sink, &event);
}
