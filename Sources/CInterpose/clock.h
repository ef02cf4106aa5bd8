/* Ticks: the recorder's time.
 *
 * The cycle counter where it is invariant (x86_64) or architectural (aarch64), else
 * CLOCK_MONOTONIC. Order between threads rests on it: a free is stamped before the real call with
 * mt_clock_before(), an allocation after it with mt_clock_after(), which waits for the call to be
 * complete (https://www.felixcloutier.com/x86/rdtscp). Whoever is handed a block another thread
 * freed passes through the allocator's lock in between, so the two stamps never cross. A stamp
 * before waits for the code before it: a processor would else read the counter while it still waits
 * for the block's address from another one, and a free would come before its allocation. */
#ifndef MT_CLOCK_H
#define MT_CLOCK_H

#include "os.h"
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
extern bool mt_clock_is_ns;

/* Chooses the source of ticks. Idempotent; call before any stamp. */
void mt_clock_init(void);

/* Ticks per second when the machine says so, else 0: then the reader uses pairs of clocks. */
uint64_t mt_clock_frequency(void);

static inline uint64_t mt_clock_before(void) {
    if (mt_unlikely(mt_clock_is_ns))
        return mt_os_time_ns(CLOCK_MONOTONIC);
#if defined(__x86_64__)
    _mm_lfence();
    return __rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
#endif
}

static inline uint64_t mt_clock_after(void) {
    if (mt_unlikely(mt_clock_is_ns))
        return mt_os_time_ns(CLOCK_MONOTONIC);
#if defined(__x86_64__)
    unsigned int processor;
    return __rdtscp(&processor);
#else
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
#endif
}

/* The current event time. */
static inline uint64_t mt_clock_event_time(void) {
    return mt_clock_before() >> MT_TICK_SHIFT;
}

#endif
