/* Records announced blocks. See announcing.h. */
#include "events/announcing.h"

#include "events/record_event.h"
#include "events/sampling.h"

static bool may_record(const struct mt_call *call) {
    if (call->entry == MT_ENTRY_PASS)
        return false;
    if (mt_sampling_selects) {
        mt_trace_file_count(MT_COUNT_ANNOUNCED_LEFT_OUT, 1);
        return false;
    }
    mt_trace_file_note_announced();
    if (mt_clock_orders_threads)
        mt_tls.must_stamp = 1;
    return true;
}

void mt_announce_block(const struct mt_call *call, const void *block, size_t size) {
    if (!may_record(call))
        return;
    if (call->entry != MT_ENTRY_RECORD) {
        mt_record_allocation_in_lane(call, block, size, 0);
        return;
    }
    struct mt_thread *thread = mt_thread_with_room();
    if (!thread)
        return;
    struct mt_stamp stamp = mt_stamp_after(call, block);
    uint32_t stack = mt_capture_stack(thread, call);
    mt_event_allocation(&thread->writer, stamp, call->operation, (uintptr_t)block, stack, size, 0);
}

void mt_announce_end(const struct mt_call *call, const void *block) {
    if (!may_record(call))
        return;
    if (call->entry != MT_ENTRY_RECORD) {
        mt_record_deallocation_in_lane(call, block, 0, 0);
        return;
    }
    struct mt_thread *thread = mt_thread_with_room();
    if (!thread)
        return;
    bool is_exact = mt_stamp_before_begin(call, block);
    uint32_t stack = mt_capture_stack(thread, call);
    mt_event_deallocation(&thread->writer, mt_stamp_before_end(is_exact), call->operation,
                          (uintptr_t)block, stack, 0, 0);
}
