/* Of the most frequent events: how they are recorded, to be inlined into malloc and free, from
 * which most of them come. All others call recorder.h. */
#ifndef MT_RECORD_EVENT_H
#define MT_RECORD_EVENT_H

#include "base/block_owner.h"
#include "base/clock.h"
#include "events/hidden_block.h"
#include "events/recorder.h"
#include "trace/trace_file.h"
#include "unwind/unwind_capture.h"

/* ---- The cold halves ---- */

/* Begins another chunk of the thread. False when there is none any more (counted). */
bool mt_record_make_room(struct mt_thread *thread);
/* Of a call that is to be recorded in the shared lane. */
void mt_record_allocation_in_lane(const struct mt_call *call, const void *block, size_t size,
                                  size_t alignment);
void mt_record_deallocation_in_lane(const struct mt_call *call, const void *block, size_t size,
                                    size_t alignment);

/* ---- Where an event goes ---- */

/* The calling thread, whose chunk has room for an event; NULL: there is none any more (counted).
 * Comes first: once recording has stopped (a full disk), the host may go on for hours, and no stack
 * is to be walked for an event that will find no place. */
static inline struct mt_thread *mt_thread_with_room(void) {
    struct mt_thread *thread = mt_tls.thread;
    if (mt_unlikely(mt_event_writer_is_full(&thread->writer)) && !mt_record_make_room(thread))
        return NULL;
    return thread;
}

/* ---- Its stack ---- */

MT_INLINE uint32_t mt_capture_stack(struct mt_thread *thread, const struct mt_call *call) {
    if (mt_unlikely(mt_unwind_depth == 0))
        return MT_STACK_NONE;
    return mt_unwind_capture(&thread->unwinder, &call->caller);
}

/* ---- Its time ---- */

/* Whether other events order themselves by the time of this one, which is of that block (NULL: of
 * none). */
static inline bool mt_needs_order(const struct mt_call *call, const void *block) {
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
static inline struct mt_stamp mt_stamp_after(const struct mt_call *call, const void *block) {
    bool is_exact = mt_needs_order(call, block);
    uint64_t ticks = is_exact ? mt_clock_after() : mt_clock_now();
    return (struct mt_stamp){ticks >> MT_TICK_SHIFT, is_exact};
}

/* Before the real call, in two parts with the capture of the stack in between: what waits for the
 * host's instructions costs least at the entry, and the counter is then read beside the capture. */
static inline bool mt_stamp_before_begin(const struct mt_call *call, const void *block) {
    bool is_exact = mt_needs_order(call, block);
    if (is_exact)
        mt_clock_wait();
    return is_exact;
}

static inline struct mt_stamp mt_stamp_before_end(bool is_exact) {
    return (struct mt_stamp){mt_clock_now() >> MT_TICK_SHIFT, is_exact};
}

/* ---- Events ---- */

/* mt_record_allocation() */
MT_INLINE void mt_record_allocation_here(const struct mt_call *call, const void *block, size_t size,
                                         size_t alignment) {
    if (mt_unlikely(call->entry != MT_ENTRY_RECORD)) {
        mt_record_allocation_in_lane(call, block, size, alignment);
        return;
    }
    struct mt_thread *thread = mt_thread_with_room();
    if (mt_unlikely(!thread))
        return;
    mt_event_fetch_site(&thread->writer);
    struct mt_stamp stamp = mt_stamp_after(call, block);
    mt_hidden_block hidden = mt_hide_block(block);
    uint32_t stack = mt_capture_stack(thread, call);
    block = mt_show_block(hidden);
    if (mt_unlikely(!block)) {
        mt_event_failed(&thread->writer, stamp, call->operation, stack, size);
        return;
    }
    mt_type_note_allocation(&thread->types, block, size, stack);
    mt_event_allocation(&thread->writer, stamp, call->operation, (uintptr_t)block, stack, size,
                        alignment);
}

/* mt_record_deallocation() */
MT_INLINE void mt_record_deallocation_here(const struct mt_call *call, const void *block,
                                           size_t size, size_t alignment) {
    if (mt_unlikely(call->entry != MT_ENTRY_RECORD)) {
        mt_record_deallocation_in_lane(call, block, size, alignment);
        return;
    }
    struct mt_thread *thread = mt_thread_with_room();
    if (mt_unlikely(!thread)) { /* whoever looks at the block is to stop, all the same */
        mt_type_note_deallocation(block, MT_STACK_NONE);
        return;
    }
    mt_event_fetch_site(&thread->writer);
    bool is_exact = mt_stamp_before_begin(call, block);
    uint32_t stack = mt_capture_stack(thread, call);
    mt_type_note_deallocation(block, stack);
    mt_event_deallocation(&thread->writer, mt_stamp_before_end(is_exact), call->operation,
                          (uintptr_t)block, stack, size, alignment);
}

#endif
