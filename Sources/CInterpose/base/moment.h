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
    mt_block_owner_forget();
    return mt_clock_event_time();
}

#endif
