/* Ticks: the recorder's time.
 *
 * The cycle counter where it is invariant (x86_64) or architectural (aarch64), else
 * CLOCK_MONOTONIC. Order between threads rests on it: a free is stamped before the real call, an
 * allocation after it. Whoever is handed a block another thread freed passes through the
 * allocator's lock in between, so the two stamps never cross, as long as no stamp is taken before
 * what comes before it: a processor may read the counter while it still waits for the block's
 * address from another one, and a free would come before its allocation. So stamps of blocks that
 * may have changed hands (block_owner.h) wait for the code before them (mt_clock_wait). What comes
 * after a stamp becomes visible to others after it, since instructions retire in order.
 */
#ifndef MT_CLOCK_H
#define MT_CLOCK_H

#include "base/os.h"
#include <time.h>

#if defined(__x86_64__)
#    include <x86intrin.h>
#endif

/* Event times are ticks >> this: about 5 ns, well below the time a block needs to change hands. */
#if defined(__x86_64__)
#    define MT_TICK_SHIFT 4
#else
#    define MT_TICK_SHIFT 0
#endif

/* True when ticks are CLOCK_MONOTONIC nanoseconds. Set once by mt_clock_init. */
extern MT_INTERNAL bool mt_clock_is_ns;

/* Chooses the source of ticks. Idempotent; call before any stamp. */
void mt_clock_init(void);

/* Ticks per second when the machine says so, else 0: then the reader uses pairs of clocks. */
uint64_t mt_clock_frequency(void);

/* Nonzero once a second thread records: from then on, events of different threads are ordered by
 * their times. Until then order is that of the thread's events. A thread that is handed a block by
 * another one has also been handed this flag, which that one has set before its first event. */
extern MT_INTERNAL uint32_t mt_clock_orders_threads;

/* The counter, read whenever the processor has time for it: never later than what comes after it
 * becomes visible to other threads, perhaps earlier than what comes before it. */
static inline uint64_t mt_clock_now(void) {
    if (mt_unlikely(mt_clock_is_ns))
        return mt_os_time_ns(CLOCK_MONOTONIC);
#if defined(__x86_64__)
    return __rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
#endif
}

/* Waits for all instructions before it. */
static inline void mt_clock_wait(void) {
#if defined(__x86_64__)
    __asm__ volatile("lfence" ::: "memory");
#else
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* The counter, read after all that comes before it. */
static inline uint64_t mt_clock_after(void) {
    mt_clock_wait();
    return mt_clock_now();
}

/* The current event time. */
static inline uint64_t mt_clock_event_time(void) {
    return mt_clock_after() >> MT_TICK_SHIFT;
}

#endif
