/* The shared lane. See lane.h. */
#include "events/lane.h"

#include "events/thread_state.h"
#include "unwind/stack_bounds.h"

static struct mt_lane g_lane;
MT_IDLE_AT_START(g_lane);

static bool take_free(struct mt_lane *lane, uintptr_t sp) {
    uintptr_t nobody = 0;
    return __atomic_compare_exchange_n(&lane->holder.sp, &nobody, sp, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* The lane was held by a call of this thread that has been left; the present one holds it now. (A
 * call that is left within the instruction or two in which its thread is not noted keeps it: events
 * that need the lane are lost then, and counted.) */
static bool take_over(struct mt_lane *lane, uintptr_t sp, struct mt_unwinder *unwinder) {
    if (__atomic_load_n(&lane->thread, __ATOMIC_ACQUIRE) != unwinder ||
        !mt_stack_bounds_has_left(unwinder, lane->holder, sp))
        return false;
    __atomic_store_n(&lane->holder.sp, sp, __ATOMIC_RELAXED);
    mt_event_writer_repair(&lane->writer);
    return true;
}

bool mt_lane_take(struct mt_lane *lane, uintptr_t sp, struct mt_unwinder *unwinder) {
    bool is_taken = take_free(lane, sp);
    if (mt_unlikely(!is_taken && unwinder)) {
        /* No handler may interrupt the repair: it would do the same. */
        uint64_t signals = mt_os_block_signals();
        is_taken = take_over(lane, sp, unwinder);
        mt_os_restore_signals(signals);
    }
    if (is_taken) {
        lane->holder.word = mt_entered_at(sp).word;
        __atomic_store_n(&lane->thread, unwinder, __ATOMIC_RELEASE);
    }
    return is_taken;
}

void mt_lane_give_back(struct mt_lane *lane) {
    __atomic_store_n(&lane->thread, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->holder.sp, 0, __ATOMIC_RELEASE);
}

struct mt_event_writer *mt_lane_acquire(uintptr_t sp, uint64_t time, uint32_t thread) {
    if (!mt_lane_take(&g_lane, sp, mt_tls.thread ? &mt_tls.thread->unwinder : NULL))
        return NULL;
    struct mt_event_writer *writer = &g_lane.writer;
    if (!mt_event_writer_ready(writer, time, thread)) {
        mt_lane_release();
        return NULL;
    }
    if (writer->thread != thread)
        mt_event_thread(writer, time, thread);
    return writer;
}

void mt_lane_release(void) {
    mt_lane_give_back(&g_lane);
}

void mt_lane_leave(const struct mt_unwinder *unwinder) {
    if (__atomic_load_n(&g_lane.thread, __ATOMIC_ACQUIRE) != unwinder)
        return;
    mt_event_writer_repair(&g_lane.writer);
    mt_lane_release();
}

void mt_lane_check(void) {
    mt_event_writer_check(&g_lane.writer);
}

void mt_lane_survive_fork(void) {
    mt_event_writer_survive_fork(&g_lane.writer);
}

void mt_lane_reset(bool is_in_use) {
    if (is_in_use)
        mt_event_writer_leave(&g_lane.writer);
    else
        mt_event_writer_forget(&g_lane.writer);
    mt_lane_release();
}
