/* Layers 1 and 2 of unwind.h: walks a stack by rules, as far as it is not the one before.
 *
 *   cache, root first    0 … 15 | dropped frames | 16 … cached - 1      (dropped is mostly 0)
 *   fresh, leaf first    0 … MT_FRESH_INNER - 1, then a ring of the last frames met
 *
 * Each event checks all cached frames that its stack shows. Those that a deep stack leaves out are
 * checked in turn, a few per event: a stack of 10 000 frames must not cost 10 000 loads. They can
 * be out of date only where a program has left and entered again more frames than a stack shows,
 * and stands with the same addresses in the same places again; then the number of frames left
 * out may be wrong, for as many events as the round takes. */
#ifndef MT_UNWIND_WALK_H
#define MT_UNWIND_WALK_H

#include "unwind/unwinder.h"

enum mt_walk_end {
    MT_WALK_CACHED,    /* unwinder->cache holds the stack */
    MT_WALK_DECLINED,  /* a frame's rule is not understood */
    MT_WALK_LOST,      /* code without unwind table does not show where its caller is */
    MT_WALK_GOROUTINE, /* the stack goes on in unwinder->goroutine */
    MT_WALK_SIGNAL     /* the last frame is what a signal handler returns to (unwind_signal.h) */
};

/* Brings unwinder->cache up to the stack that starts at leaf.
 *
 * known    unless MT_WALK_CACHED: how many frames from the leaf on were found; they are the first
 *          of unwinder->fresh, and the cache is as it was
 * context  as mt_unwind_capture */
enum mt_walk_end mt_unwind_walk(struct mt_unwinder *unwinder, struct mt_frame leaf,
                                uint32_t *known);

/* The same for the stack of the caller of a frame that a signal has interrupted. That frame itself
 * is not among those found: of what a cached frame is, it lacks a return address on the stack.
 *
 * interrupted  pc: the instruction that was to come; a page that holds its sp can be read
 * returns      also MT_WALK_DECLINED, with *known 0, where no table tells the caller */
enum mt_walk_end mt_unwind_walk_interrupted(struct mt_unwinder *unwinder,
                                            struct mt_frame interrupted, uint32_t *known);

/* Number of frames of the cached stack. */
static inline uint64_t mt_unwind_cached_depth(const struct mt_unwinder *unwinder) {
    return unwinder->cached + unwinder->dropped;
}

#endif
