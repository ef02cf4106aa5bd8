/* The blocks that are recorded and live, where not all are: what a free looks its block up in.
 *
 * Two layers. The filter has a counter per KiB of address space, repeated every 256 MiB: a 0, which
 * nearly every free finds, says that the block was not sampled. What a free pays is waiting for the
 * counter's line: one line stands for 64 KiB, so that those of the memory in use stay near. With a
 * counter per 32 bytes cc1plus paid three times as much; with one per KiB, and a sample in 512 KiB,
 * two frees in a thousand look closer in vain. But those can be the ones of a program's inner loop,
 * next to the array that it fills: a large block is always in the sample. (python3: an eighth of
 * all frees.) So a second filter, asked after the first only, has a counter per 16 bytes, repeated
 * every 4 MiB. Behind both are the exact addresses, in buckets of one cache line:
 *
 *      filters  [ 0 | 0 | 1 | 0 | ... ]                     256 Ki counters each
 *      level 0  [ 8 addresses ] [ 8 addresses ] ...          64 buckets
 *      level 1  [ 8 addresses ] ...                          128 buckets, mapped when 0 overflows
 *      ...
 *
 * An address has two buckets in each level and lies in a free place of one of them. So nothing is
 * ever moved, a place is free again at once, and there are no tombstones: memory follows the
 * greatest number of blocks that were live at once, however long the host runs.
 *
 * Where recording is merely paused now and then, the set is dense: most blocks may be in it. Then
 * their addresses are bits (block_bits.h), and the counters say 255 from the first block on that
 * was in their place.
 *
 * Guarantees, without a lock:
 * - An address is found from the return of insert until the return of remove, by every thread that
 *   was handed the block: that hand-over orders the two.
 * - A counter that has reached 255 stays there: false alarms, never a miss.
 * - Interrupted, or copied by a fork, in the middle of an insert, it has at most a counter too
 * many.
 */
#ifndef MT_SAMPLED_SET_H
#define MT_SAMPLED_SET_H

#include "base/os.h"

enum { MT_FILTER_SIZE = 256 << 10, MT_FILTER_SHIFT = 10, MT_FILTER_FINE_SHIFT = 4 };
extern MT_INTERNAL uint8_t mt_sampled_filter[MT_FILTER_SIZE];
extern MT_INTERNAL uint8_t mt_sampled_fine_filter[MT_FILTER_SIZE];

/* The counters that a free asks: those of the filter or, until mt_sampled_set_use, a single one
 * that is never 0. So one look tells both whether there is a sample at all and whether to look
 * closer. */
struct mt_sampled_view {
    const uint8_t *counters;
    uint32_t mask; /* of their indices */
};
extern MT_INTERNAL struct mt_sampled_view mt_sampled_view;

/* From now on blocks that are not in the set are told from others. Once, at start-up.
 * is_dense  most blocks may be in it at times */
void mt_sampled_set_use(bool is_dense);

static inline uint8_t *mt_sampled_set_counter(const void *block) {
    return &mt_sampled_filter[((uintptr_t)block >> MT_FILTER_SHIFT) % MT_FILTER_SIZE];
}

/* False for a block that is not in the set; true for one that may be, and while the set is not in
 * use. A plain load: compilers compare with it at once. */
static inline bool mt_sampled_set_may_hold(const void *block) {
    uintptr_t index = (uintptr_t)block >> MT_FILTER_SHIFT & mt_sampled_view.mask;
    return *(const volatile uint8_t *)&mt_sampled_view.counters[index] != 0;
}

static inline uint8_t *mt_sampled_set_fine_counter(const void *block) {
    return &mt_sampled_fine_filter[((uintptr_t)block >> MT_FILTER_FINE_SHIFT) % MT_FILTER_SIZE];
}

bool mt_sampled_set_search(const void *block);

/* True for a block that is in the set. Any thread, any hook; async-signal-safe. */
static inline bool mt_sampled_set_holds(const void *block) {
    return mt_unlikely(__atomic_load_n(mt_sampled_set_fine_counter(block), __ATOMIC_RELAXED)) &&
           mt_sampled_set_search(block);
}

/* Lets a counter say for ever that there may be blocks. Its line is not written to in vain. */
static inline void mt_sampled_set_fill(uint8_t *counter) {
    if (__atomic_load_n(counter, __ATOMIC_RELAXED) != UINT8_MAX)
        __atomic_store_n(counter, UINT8_MAX, __ATOMIC_RELAXED);
}

/* Raises a false alarm for a block, now and for ever: it is to be looked at more closely. */
static inline void mt_sampled_set_distrust(const void *block) {
    mt_sampled_set_fill(mt_sampled_set_counter(block));
}

/* Adds a block, before its owner gets it.
 * returns  false when there is no memory for another level
 * context  any thread, any hook; async-signal-safe */
bool mt_sampled_set_insert(const void *block);

/* Takes a block out, before the allocator gets it back.
 * returns  true when it was there
 * context  any thread, any hook; async-signal-safe */
bool mt_sampled_set_remove(const void *block);

#endif
