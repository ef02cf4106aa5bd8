/* What both walks (unwind_walk.c, unwind_short_walk.h) do with the frames of the stack cache. */
#ifndef MT_UNWIND_CACHE_H
#define MT_UNWIND_CACHE_H

#include "unwind/unwind_rules.h"
#include "unwind/unwinder.h"

static inline uintptr_t mt_stack_word(uintptr_t address) {
    return *(const uintptr_t *)address;
}

/* Whether a frame that was met is a cached one. */
static inline bool mt_is_cached_frame(const struct mt_cached_frame *cached,
                                      const struct mt_frame *met) {
    return cached->frame.sp == met->sp && cached->frame.pc == met->pc &&
           (mt_likely(!(cached->use & MT_FP_MATTERS)) || cached->frame.fp == met->fp);
}

/* ---- Whether cached frames still stand ---- */

/* 0 when the word is unchanged. */
static inline uintptr_t mt_check_difference(const struct mt_check *check) {
    return mt_stack_word(check->address) ^ check->value;
}

/* Where the checks of the frames that a frame calls begin. */
static inline uint32_t mt_end_of_checks(const struct mt_cached_frame *frame) {
    return frame->first_check + (frame->use & MT_FP_CHECKED ? 2 : 1) +
           (frame->use & MT_SP_CHECKED ? 1 : 0);
}

/* 0 when what the frame was read from is unchanged. */
static inline uintptr_t mt_frame_difference(const struct mt_unwinder *unwinder,
                                            const struct mt_cached_frame *frame) {
    uintptr_t word = mt_stack_word(mt_pc_slot(&frame->frame));
    uintptr_t found = mt_return_address_in(word) ^ frame->frame.pc;
    if (frame->use & MT_FP_CHECKED)
        found |= mt_stack_word(frame->fp_slot) ^ frame->frame.fp;
    if (mt_unlikely(frame->use & MT_SP_CHECKED)) /* its last check */
        found |=
            mt_check_difference(&unwinder->checks[MT_CHECK_GROUP + mt_end_of_checks(frame) - 1]);
    return found;
}

/* The innermost of the first `count` frames that has changed, counted from 1; 0 where all hold,
 * which is the rule: four are looked at at a time. */
static inline uint32_t mt_innermost_changed(const struct mt_unwinder *unwinder, uint32_t count) {
    const struct mt_cached_frame *cache = unwinder->cache, *end = cache + count;
    while (end - cache >= 4 &&
           !(mt_frame_difference(unwinder, end - 1) | mt_frame_difference(unwinder, end - 2) |
             mt_frame_difference(unwinder, end - 3) | mt_frame_difference(unwinder, end - 4)))
        end -= 4;
    while (end > cache && !mt_frame_difference(unwinder, end - 1))
        end--;
    return (uint32_t)(end - cache);
}

/* Whether `count` checks hold: quicker, without saying which frame has changed. In groups, the last
 * of which goes on into those before: others of the same stack, or the ones that always hold. */
static inline bool mt_checks_hold(const struct mt_check *first, uint32_t count) {
    const struct mt_check *end = first + count;
    uintptr_t found = 0;
    for (; end > first; end -= MT_CHECK_GROUP)
        found |= mt_check_difference(end - 1) | mt_check_difference(end - 2) |
                 mt_check_difference(end - 3) | mt_check_difference(end - 4);
    return found == 0;
}

/* ---- Changes ---- */

/* What a frame has of its caller. */
struct mt_caller {
    uint64_t hash;
    uint32_t use;         /* MT_FP_MATTERS counts */
    uint32_t first_check; /* behind those of the caller */
};

static inline struct mt_caller mt_caller_of(const struct mt_cached_frame *frame) {
    return (struct mt_caller){frame->hash, frame->use, mt_end_of_checks(frame)};
}

/* What the pc of a frame was read from. */
static inline struct mt_check mt_check_of_pc(const struct mt_frame *frame) {
    uintptr_t slot = mt_pc_slot(frame);
#if defined(__x86_64__)
    return (struct mt_check){slot, frame->pc};
#else
    /* With its signature; and what nobody knows never holds. */
    return slot ? (struct mt_check){slot, mt_stack_word(slot)}
                : (struct mt_check){frame->sp, ~mt_stack_word(frame->sp)};
#endif
}

/* Writes down what a frame was read from. */
static inline void mt_cache_put_checks(struct mt_unwinder *unwinder,
                                       const struct mt_cached_frame *frame) {
    struct mt_check *checks = mt_checks(unwinder) + frame->first_check;
    checks[0] = mt_check_of_pc(&frame->frame);
    if (mt_unlikely(frame->use & MT_FP_CHECKED))
        checks[1] = (struct mt_check){frame->fp_slot, frame->frame.fp};
}

/* Of a frame whose use is known but for this: whether the way to the root depends on its pointer,
 * which was read from a slot, or was its callee's. */
static inline uint16_t mt_with_use_of_fp(uint32_t use, bool matters, uintptr_t fp_slot) {
    if (mt_likely(!matters))
        return (uint16_t)use;
    return (uint16_t)(use | (fp_slot ? MT_FP_MATTERS | MT_FP_CHECKED : MT_FP_MATTERS));
}

/* Whether the way to the root depends on the frame pointer of a frame.
 * use     what the frame's rule tells of it
 * caller  of its caller: MT_FP_MATTERS or 0
 * returns the same, of the frame */
static inline uint32_t mt_fp_matters(uint32_t use, uint32_t caller) {
    _Static_assert(MT_FP_PASSES == 2 * MT_FP_LEADS && MT_FP_MATTERS == 4 * MT_FP_LEADS, "one bit");
    return (use << 2 | (use << 1 & caller)) & MT_FP_MATTERS;
}

/* Puts a new frame into its place.
 * use  what its rule tells of it */
static inline void mt_cache_put(struct mt_unwinder *unwinder, struct mt_cached_frame *place,
                                struct mt_caller caller, const struct mt_frame *frame,
                                uintptr_t fp_slot, uint32_t use) {
    bool matters = mt_fp_matters(use, caller.use & MT_FP_MATTERS);
    place->frame = *frame;
    place->fp_slot = fp_slot;
    place->hash = mt_stack_hash(caller.hash, frame->pc);
    place->id = MT_STACK_NONE;
    place->use = mt_with_use_of_fp(use, matters, fp_slot);
    place->first_check = (uint16_t)caller.first_check;
    mt_cache_put_checks(unwinder, place);
}

/* A frame that was put into its place, or renewed, was found by a word of its callee's. */
static inline void mt_cache_check_sp(struct mt_unwinder *unwinder, struct mt_cached_frame *frame,
                                     uintptr_t sp_slot) {
    frame->use |= MT_SP_CHECKED;
    mt_checks(unwinder)[mt_end_of_checks(frame) - 1] = (struct mt_check){sp_slot, frame->frame.sp};
}

/* A cached frame, the last one that stays, was met again. The same frame pointer may have been
 * saved elsewhere this time, or another one that does not matter; and its callee be another one,
 * which has the return address elsewhere. */
static inline void mt_cache_renew(struct mt_unwinder *unwinder, struct mt_cached_frame *frame,
                                  uintptr_t fp, uintptr_t fp_slot, uintptr_t pc_slot) {
    frame->frame.fp = fp;
    frame->fp_slot = fp_slot;
    bool has_moved = mt_note_pc_slot(&frame->frame, pc_slot);
    if (mt_likely(!(frame->use & (MT_FP_MATTERS | MT_SP_CHECKED)) && !has_moved))
        return;
    frame->use = mt_with_use_of_fp(frame->use & MT_FRAME_USES, frame->use & MT_FP_MATTERS, fp_slot);
    mt_cache_put_checks(unwinder, frame);
}

#endif
