/* Moments between events. */
#ifndef MT_MOMENT_H
#define MT_MOMENT_H

#include "base/block_owner.h"
#include "base/clock.h"
#include "base/tls.h"

/* The current event time. What the thread does next happened after it: by its time, not only in
 * fact. */
static inline uint64_t mt_moment(void) {
    mt_tls.must_stamp = 1;
    uint64_t time = mt_clock_event_time();
    /* Without other threads nothing is in the table. One that begins now has its first event later
     * than the time that was read. */
    if (__atomic_load_n(&mt_clock_orders_threads, __ATOMIC_ACQUIRE)) {
        mt_block_owner_forget();
        time = mt_clock_event_time();
    }
    return time;
}

/* The same where order matters for the events of one block only, those of whichever thread: a
 * store instead of a walk through a table of 64 Ki words. */
static inline uint64_t mt_moment_of_block(uintptr_t block) {
    mt_tls.must_stamp = 1;
    mt_block_owner_forget_block(block);
    return mt_clock_event_time();
}

#endif
