/* The walk that most stacks need: a few new frames, by rules of unwind tables, on top of a cached
 * stack that stands. It is unwind_walk.h's, without what is seldom needed; where that is needed, it
 * leaves everything as it was. Inlined into what captures stacks. */
#ifndef MT_UNWIND_SHORT_WALK_H
#define MT_UNWIND_SHORT_WALK_H

#include "unwind/unwind_cache.h"
#include "unwind/unwind_rules.h"

/* Notes whether the cached stack may be walked shortly: it is all of the thread's own, as far as
 * that is known, and lacks nothing. After every other change of the cache and of the stacks.
 * Puts the checks that always hold (mt_checks_hold) into their place as well. */
static inline void mt_unwind_allow_short_walk(struct mt_unwinder *unwinder) {
    uintptr_t outermost = unwinder->cache[0].frame.sp;
    unwinder->is_ordinary =
        unwinder->cached > 0 && unwinder->dropped == 0 && unwinder->other_stack.high == 0 &&
        outermost > unwinder->own_stack.low && outermost <= unwinder->own_stack.high;
    for (int i = 0; i < MT_CHECK_GROUP; i++)
        unwinder->checks[i] = (struct mt_check){(uintptr_t)&unwinder->checks[i].value, 0};
}

enum { MT_SHORT_WALK = 24 /* new frames */ };

/* A new frame. Its frame pointer is that of its callee, or lies in fp_slot. */
struct mt_short_step {
    uintptr_t pc, sp, fp_slot;
    uint64_t rule; /* in one word */
#if !defined(__x86_64__)
    uintptr_t pc_slot;
#endif
};

static inline struct mt_short_step mt_short_step_at(const struct mt_frame *frame, uintptr_t fp_slot,
                                                    uint64_t rule) {
#if defined(__x86_64__)
    return (struct mt_short_step){frame->pc, frame->sp, fp_slot, rule};
#else
    return (struct mt_short_step){frame->pc, frame->sp, fp_slot, rule, frame->pc_slot};
#endif
}

/* mt_pc_slot(), of its frame. */
static inline uintptr_t mt_short_pc_slot(const struct mt_short_step *step) {
#if defined(__x86_64__)
    return step->sp - 8;
#else
    return step->pc_slot;
#endif
}

/* The new frames, leaf first, up to one that is cached. */
struct mt_short_way {
    struct mt_short_step fresh[MT_SHORT_WALK];
    struct mt_short_step *end;
    uint64_t uses;                  /* enum mt_frame_use: those of all of them */
    uint32_t met;                   /* where the one that is cached has its place */
    uintptr_t fp, fp_slot, pc_slot; /* of that one, as it was met */
};

/* Whether a word at an address lies in a stack above its stack pointer. */
static inline bool mt_is_above(uintptr_t address, uintptr_t sp, uintptr_t end) {
    return address - sp < end - sp && address % 8 == 0;
}

/* mt_short_cfa() where the frame pointer leads, or was saved elsewhere. By value, so that frames
 * stay in registers. */
static inline uintptr_t mt_short_far_cfa(struct mt_frame frame, uint64_t rule, uintptr_t end) {
    uintptr_t cfa = (rule & MT_FP_LEADS ? frame.fp : frame.sp) +
                    (uintptr_t)(intptr_t)mt_rule_word_cfa_offset(rule);
    uintptr_t pc_slot = cfa + (uintptr_t)mt_rule_word_pc_offset(rule);
    bool is_found = rule & MT_USES_TABLE && mt_is_above(pc_slot, frame.sp, end) &&
                    (rule & MT_FP_PASSES ||
                     mt_is_above(cfa + (uintptr_t)mt_rule_word_fp_offset(rule), frame.sp, end));
    return is_found ? cfa : UINTPTR_MAX;
}

/* Where the frame of the caller begins; above the stack, which goes up to `end`, where no table
 * tells, or what is to be read is not in the stack. */
MT_INLINE uintptr_t mt_short_cfa(struct mt_frame frame, uint64_t rule, uintptr_t end) {
    if (mt_unlikely(!(rule & MT_RULE_IS_NEAR)))
        return mt_short_far_cfa(frame, rule, end);
    return frame.sp + mt_rule_word_near_cfa_offset(rule);
}

/* returns  false where it does not come to a cached frame */
MT_INLINE bool mt_short_walk(const struct mt_unwinder *unwinder, const struct mt_frame *leaf,
                             struct mt_short_way *way) {
    uint32_t met = unwinder->cached - 1;
    const struct mt_cached_frame *candidate = &unwinder->cache[met];
    uintptr_t end = unwinder->own_stack.high;
    struct mt_frame at = *leaf;
    uintptr_t fp_slot = mt_fp_slot_in_hook(leaf);
    uint64_t uses = 0;
    for (struct mt_short_step *fresh = way->fresh;; fresh++) {
        for (; candidate->frame.sp < at.sp; candidate--)
            if (mt_unlikely(met-- == 0))
                return false;
        if (mt_is_cached_frame(candidate, &at)) {
            way->end = fresh;
            way->uses = uses;
            way->met = met;
            way->fp = at.fp;
            way->fp_slot = fp_slot;
            way->pc_slot = mt_pc_slot(&at);
            return true;
        }
        uint64_t rule = mt_rule_word_known(at.pc);
        uintptr_t cfa = mt_short_cfa(at, rule, end);
        if (mt_unlikely(cfa > end))
            return false;
        if (mt_unlikely(fresh == &way->fresh[MT_SHORT_WALK]))
            return false;
        *fresh = mt_short_step_at(&at, fp_slot, rule);
        uses |= rule;
        fp_slot = 0;
        if (!(rule & MT_FP_PASSES)) {
            fp_slot = cfa + (uintptr_t)mt_rule_word_fp_offset(rule);
            at.fp = mt_stack_word(fp_slot);
        }
        uintptr_t pc_slot = cfa + (uintptr_t)mt_rule_word_pc_offset(rule);
        at.sp = cfa;
        at.pc = mt_return_address_in(mt_stack_word(pc_slot));
        mt_note_pc_slot(&at, pc_slot);
        if (mt_unlikely(at.pc == 0))
            return false;
    }
}

/* Keeps new frames whose frame pointers do not matter, as those of most code that is compiled with
 * optimisation. */
MT_INLINE void mt_short_keep_plain(struct mt_unwinder *unwinder, const struct mt_short_way *way,
                                   struct mt_cached_frame *at) {
    uint32_t next = at->first_check + 1;
    struct mt_check *check = mt_checks(unwinder) + next;
    uint64_t hash = at->hash;
    for (const struct mt_short_step *from = way->end; from-- > way->fresh;) {
        hash = mt_stack_hash(hash, from->pc);
        at++;
        at->frame.pc = from->pc;
        at->frame.sp = from->sp;
        mt_note_pc_slot(&at->frame, mt_short_pc_slot(from));
        at->fp_slot = from->fp_slot;
        at->hash = hash;
        at->use = (uint16_t)(from->rule & MT_RULE_USES);
        at->first_check = (uint16_t)next++;
        at->id = MT_STACK_NONE;
        *check++ = mt_check_of_pc(&at->frame);
    }
}

/* Keeps all new frames. */
static inline void mt_short_keep_any(struct mt_unwinder *unwinder, const struct mt_short_way *way,
                                     struct mt_cached_frame *at, uintptr_t fp) {
    uintptr_t fps[MT_SHORT_WALK];
    for (const struct mt_short_step *from = way->fresh; from < way->end; from++)
        fps[from - way->fresh] = fp = from->fp_slot ? mt_stack_word(from->fp_slot) : fp;
    struct mt_caller caller = mt_caller_of(at);
    for (const struct mt_short_step *from = way->end; from-- > way->fresh;
         caller = mt_caller_of(at)) {
        struct mt_frame frame = {.pc = from->pc, .sp = from->sp, .fp = fps[from - way->fresh]};
        mt_note_pc_slot(&frame, mt_short_pc_slot(from));
        mt_cache_put(unwinder, ++at, caller, &frame, from->fp_slot, from->rule & MT_RULE_USES);
    }
}

/* Brings unwinder->cache up to the stack that starts at leaf.
 *
 * returns  false where this takes the longer walk: then nothing has changed
 * context  as mt_unwind_capture */
MT_INLINE bool mt_unwind_walk_shortly(struct mt_unwinder *unwinder, const struct mt_frame *leaf) {
    const struct mt_address_range *stack = &unwinder->own_stack;
    if (mt_unlikely(!unwinder->is_ordinary || !mt_is_above(leaf->sp - 8, stack->low, stack->high)))
        return false;
    struct mt_short_way way;
    if (mt_unlikely(!mt_short_walk(unwinder, leaf, &way)))
        return false;
    uint32_t cached = way.met + 1 + (uint32_t)(way.end - way.fresh);
    struct mt_cached_frame *met = &unwinder->cache[way.met];
    if (mt_unlikely(cached > mt_unwind_depth ||
                    !mt_checks_hold(mt_checks(unwinder), met->first_check)))
        return false;
    unwinder->cached = cached;
    mt_cache_renew(unwinder, met, way.fp, way.fp_slot, way.pc_slot);
    if (mt_likely(!(met->use & MT_FP_MATTERS) && !(way.uses & MT_FP_LEADS)))
        mt_short_keep_plain(unwinder, &way, met);
    else
        mt_short_keep_any(unwinder, &way, met, leaf->fp);
    return true;
}

#endif
