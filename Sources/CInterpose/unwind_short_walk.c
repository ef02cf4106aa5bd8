/* Walks the few new frames of a stack. See unwind_short_walk.h. */
#include "unwind_short_walk.h"

#include "unwind_cache.h"
#include "unwind_rules.h"

#if defined(__x86_64__)

enum { SHORT_WALK = 24 /* new frames */ };

static bool is_within(const struct mt_address_range *stack, uintptr_t address) {
    return address >= stack->low && address < stack->high && address % 8 == 0;
}

/* Whether all is on the thread's own stack, as far as that is known, and nothing is left out. */
static bool is_ordinary(const struct mt_unwinder *unwinder, const struct mt_frame *leaf) {
    return unwinder->cached > 0 && unwinder->dropped == 0 && unwinder->other_stack.high == 0 &&
           is_within(&unwinder->own_stack, leaf->sp - 8) &&
           unwinder->cache[0].frame.sp > unwinder->own_stack.low &&
           unwinder->cache[0].frame.sp <= unwinder->own_stack.high;
}

/* A frame on the way, in registers. */
struct position {
    struct mt_frame frame;
    uintptr_t fp_slot; /* as in struct mt_cached_frame */
};

/* Whether a word at an address lies in the stack of a position, and not below that. */
static bool is_above(uintptr_t address, uintptr_t sp, uintptr_t end) {
    return address - sp < end - sp && address % 8 == 0;
}

/* From a frame to its caller, which must lie upwards inside the stack. end: of the stack */
static bool step(struct position *at, uint64_t rule, uintptr_t end) {
    uintptr_t cfa = (rule & MT_RULE_IS_FROM_FP ? at->frame.fp : at->frame.sp) +
                    (uintptr_t)(intptr_t)mt_rule_word_cfa_offset(rule);
    if (mt_unlikely(!is_above(cfa - 8, at->frame.sp, end)))
        return false;
    at->fp_slot = 0;
    if (rule & MT_RULE_RESTORES_FP) {
        at->fp_slot = cfa + (uintptr_t)(intptr_t)mt_rule_word_fp_offset(rule);
        if (mt_unlikely(!is_above(at->fp_slot, at->frame.sp, end)))
            return false;
        at->frame.fp = mt_stack_word(at->fp_slot);
    }
    at->frame.sp = cfa;
    at->frame.pc = mt_stack_word(cfa - 8);
    return at->frame.pc != 0;
}

static uint32_t use_of(uint64_t rule) {
    return MT_USES_TABLE | mt_fp_use(rule & MT_RULE_IS_FROM_FP, rule & MT_RULE_RESTORES_FP);
}

/* The new frames, leaf first, up to one that is cached. */
struct way {
    struct {
        struct position at;
        uint32_t use;
    } fresh[SHORT_WALK];
    size_t count;
    struct position met;          /* the one that is cached */
    struct mt_cached_frame *same; /* its place in the cache */
};

/* returns  false where it does not come to a cached frame */
static bool walk(struct mt_unwinder *unwinder, const struct mt_frame *leaf, struct way *way) {
    struct mt_cached_frame *candidate = &unwinder->cache[unwinder->cached - 1];
    uintptr_t end = unwinder->own_stack.high;
    /* The hook pushed the frame pointer below the return address. */
    struct position at = {*leaf, leaf->sp - 16};
    for (size_t count = 0;; count++) {
        while (candidate->frame.sp < at.frame.sp)
            if (candidate-- == unwinder->cache)
                return false;
        if (mt_is_cached_frame(candidate, &at.frame)) {
            way->met = at;
            way->count = count;
            way->same = candidate;
            return true;
        }
        uint64_t rule = mt_rule_word_known(at.frame.pc);
        if (mt_unlikely(count == SHORT_WALK || !mt_rule_word_is_frame(rule)))
            return false;
        way->fresh[count].at = at;
        way->fresh[count].use = use_of(rule);
        if (mt_unlikely(!step(&at, rule, end)))
            return false;
    }
}

static void keep(struct mt_unwinder *unwinder, const struct way *way) {
    struct mt_cached_frame *at = way->same;
    mt_cache_renew(unwinder, at, way->met.frame.fp, way->met.fp_slot);
    struct mt_caller caller = mt_caller_of(at);
    for (size_t i = way->count; i-- > 0; caller = mt_caller_of(at)) {
        const struct position *from = &way->fresh[i].at;
        mt_cache_put(unwinder, ++at, caller, &from->frame, from->fp_slot, way->fresh[i].use);
    }
    unwinder->cached = (uint32_t)(at - unwinder->cache) + 1;
}

bool mt_unwind_walk_shortly(struct mt_unwinder *unwinder, const struct mt_frame *leaf) {
    if (mt_unlikely(!is_ordinary(unwinder, leaf)))
        return false;
    struct way way;
    if (mt_unlikely(!walk(unwinder, leaf, &way)))
        return false;
    size_t callers = (size_t)(way.same - unwinder->cache);
    if (mt_unlikely(callers + way.count >= mt_unwind_depth ||
                    !mt_all_checks_hold(unwinder->checks, callers ? way.same[-1].checks : 0)))
        return false;
    keep(unwinder, &way);
    return true;
}

#endif
