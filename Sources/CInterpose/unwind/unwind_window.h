/* Tells a stack that is too deep to be shown whole by what is shown of it: its outermost and its
 * innermost frames, and the gap between them. A recursion shows the same at most of its depths.
 *
 * The hash of the innermost ones is that of a window which moves over the stack, so that a frame
 * more or less takes one step, whatever the window's length:
 *
 *      prefix(n)        prefix(n - 1) * BASE + mixed(pc of frame n)      root first, modulo 2^64
 *      window(n, k)     prefix(n) - prefix(n - k) * BASE^k               of the k frames up to n
 *
 * https://en.wikipedia.org/wiki/Rolling_hash */
#ifndef MT_UNWIND_WINDOW_H
#define MT_UNWIND_WINDOW_H

#include "unwind/unwinder.h"

#define MT_WINDOW_BASE 0xd6e8feb86659fd93u /* odd, and no power of it is near 1 */

static inline uint64_t mt_window_power(uint32_t exponent) {
    uint64_t power = 1;
    for (uint64_t square = MT_WINDOW_BASE; exponent > 0; exponent >>= 1, square *= square)
        if (exponent & 1)
            power *= square;
    return power;
}

/* Notes the prefix of a cached frame. Whatever interrupts this, and jumps away, leaves no half of
 * it. */
static inline void mt_window_note(struct mt_window_frame *window, uint64_t path, uint64_t prefix) {
    window->path = 0;
    __asm__ volatile("" ::: "memory");
    window->prefix = prefix;
    __asm__ volatile("" ::: "memory");
    window->path = path;
}

/* The prefix of the first `count` cached frames. Those that are not known yet, as their paths have
 * changed, are made from the last one that is. */
static inline uint64_t mt_window_prefix(struct mt_unwinder *unwinder, uint32_t count) {
    const struct mt_cached_frame *cache = unwinder->cache;
    struct mt_window_frame *windows = unwinder->windows;
    uint32_t known = count;
    while (known > 0 && windows[known - 1].path != cache[known - 1].hash)
        known--;
    uint64_t prefix = known > 0 ? windows[known - 1].prefix : 0;
    for (; known < count; known++) {
        prefix = prefix * MT_WINDOW_BASE + mt_stack_hash(0, cache[known].frame.pc);
        mt_window_note(&windows[known], cache[known].hash, prefix);
    }
    return prefix;
}

/* The hash of the cached stack, as it is shown.
 * inner      how many of its innermost frames are
 * outermost  how many others: they are the first ones of the cache
 * gap        what stands between them (mt_stack_gap) */
static inline uint64_t mt_window_hash(struct mt_unwinder *unwinder, uint32_t inner,
                                      uint32_t outermost, uint64_t gap) {
    uint64_t before = mt_window_prefix(unwinder, unwinder->cached - inner);
    uint64_t window =
        mt_window_prefix(unwinder, unwinder->cached) - before * mt_window_power(inner);
    uint64_t root = outermost > 0 ? unwinder->cache[outermost - 1].hash : unwinder->root_hash;
    return mt_stack_hash(mt_stack_hash(root, gap), window);
}

#endif
