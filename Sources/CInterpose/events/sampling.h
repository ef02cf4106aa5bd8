/* Which allocations are recorded when not all are: a sample (--sample, MEMTRACE_SAMPLE), and those
 * of the time in which recording is not paused (pausing.h).
 *
 * Of a sample, the bytes that a thread allocates are thought of as one long line, and points are
 * thrown on it at random, `interval` bytes apart in the mean (a Poisson process). An allocation
 * with a point in it is in the sample, with its end, whoever frees it. So one of `size` bytes is in
 * it with
 *
 *      p = 1 - exp(-(size + 1) / interval)
 *
 * independently of all others, whatever the host's pattern; the byte more gives blocks of 0 bytes
 * a chance. The reader divides by p.
 *
 * The distance to the next point is counted down in the thread's TLS block. While nothing is
 * sampled out the countdown is 0 for ever: then a hook pays one addition, and a free one look.
 * While recording is paused the countdown leads to the next look whether it still is. */
#ifndef MT_SAMPLING_H
#define MT_SAMPLING_H

#include "base/sampled_set.h"
#include "base/tls.h"
#include "events/pausing.h"

/* Whether some allocations are not recorded, or may be later. Set once, at start-up. */
extern MT_INTERNAL bool mt_sampling_selects;

/* interval   mean distance between two points in bytes; 0: everything is recorded
 * seed       0: random; else the points depend on it, the thread's index and the number of forks
 *            only
 * can_pause  blocks that are not recorded are told from others all the same */
void mt_sampling_init(uint64_t interval, uint64_t seed, bool can_pause);

/* The calling thread looks at its next allocation whether recording is paused. */
static inline void mt_sampling_look_again(void) {
    mt_tls.sample_left = 0;
}

/* First thing in a hook: true when the block to be allocated is not in the sample, and the real
 * function is all there is to do. A first call of a thread is false: it has no countdown yet. (To
 * add the complement takes size + 1 away, and overflows where so much is left.) */
static inline bool mt_sampling_skips(size_t size) {
    uint64_t left;
    if (!__builtin_add_overflow(mt_tls.sample_left, ~(uint64_t)size, &left))
        return false;
    mt_tls.sample_left = left;
    return true;
}

/* The cold half of mt_sampling_rests. */
bool mt_sampling_rest(void);

/* First thing in the other half of a hook, which mt_sampling_skips does not skip: true when
 * recording is paused, and the real function is all there is to do. A thread that is not recorded
 * is then not noted either. */
static inline bool mt_sampling_rests(void) {
    return mt_unlikely(mt_pausing_is_possible) && mt_sampling_rest();
}

/* The same for a realloc, which frees a block as well (or NULL). Nothing is said of likelihood here
 * and below, or some compilers move what follows into a function with a frame (.cold). */
static inline bool mt_sampling_skips_realloc(const void *block, size_t size) {
    return !mt_sampled_set_may_hold(block) && mt_sampling_skips(size);
}

/* The cold half of mt_sampling_takes. */
bool mt_sampling_take(const void *block, size_t size);

/* After the real call: true when the allocation is to be recorded. Its end will be, too.
 * block  NULL for an allocation that failed */
static inline bool mt_sampling_takes(const void *block, size_t size) {
    return mt_likely(!mt_sampling_selects) || mt_sampling_take(block, size);
}

/* True for a block that is certainly not in the sample, nor of the bootstrap arena. What is not
 * certain, and everything while all is recorded, is false. */
static inline bool mt_sampling_surely_ignores(const void *block) {
    return !mt_sampled_set_may_hold(block);
}

/* The same of a block that may be in the sample, by a closer look: it has neighbours in the filter.
 */
static inline bool mt_sampling_leaves_out(const void *block) {
    return mt_unlikely(mt_sampling_selects) && !mt_sampled_set_holds(block);
}

/* Before the real call: true when the end of this block is not to be recorded. Once per free: what
 * was in the sample is then no longer known. */
static inline bool mt_sampling_ignores(const void *block) {
    return mt_unlikely(mt_sampling_selects) &&
           !(mt_sampled_set_may_hold(block) && mt_sampled_set_remove(block));
}

/* The block was not freed after all: its realloc has failed. */
void mt_sampling_restore(const void *block);

/* Bytes before the one with the next point: exponentially distributed, rounded down.
 *
 * random    64 random bits
 * interval  the mean in bytes
 *
 * In integers: floating-point arithmetic would leave its mark in the host's exception flags. */
uint64_t mt_sampling_gap(uint64_t random, uint64_t interval);

#endif
