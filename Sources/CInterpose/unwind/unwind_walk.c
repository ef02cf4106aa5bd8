/* Walks stacks by rules and cache. See unwind_walk.h. */
#include "unwind/unwind_walk.h"

#include "loader/image_map.h"
#include "unwind/call_site.h"
#include "unwind/epilogue.h"
#include "unwind/stack_bounds.h"
#include "unwind/unwind_cache.h"
#include "unwind/unwind_frame_pointer.h"
#include "unwind/unwind_goroutine.h"
#include "unwind/unwind_rules.h"
#include "unwind/unwind_short_walk.h"
#include <string.h>

enum { CHECKED_PER_EVENT = 32 };

/* Where frame `index` of a walk is kept, counted from the leaf: the innermost stay, of the others
 * only the last ones. */
static struct mt_cached_frame *fresh_frame(struct mt_unwinder *unwinder, uint64_t index) {
    if (mt_likely(index < MT_FRESH_INNER))
        return &unwinder->fresh[index];
    return &unwinder->fresh[MT_FRESH_INNER + (index - MT_FRESH_INNER) % MT_FRESH_RING];
}

/* ---- Layer 1: the stack cache ---- */

/* Of the cached frames from..<to. */
static bool all_hold(struct mt_unwinder *unwinder, uint32_t from, uint32_t to) {
    if (from >= to)
        return true;
    const struct mt_cached_frame *cache = unwinder->cache;
    uint32_t first = cache[from].first_check, end = mt_end_of_checks(&cache[to - 1]);
    return mt_checks_hold(mt_checks(unwinder) + first, end - first);
}

/* The next few of the frames that are cached but not shown. */
static bool some_hold(struct mt_unwinder *unwinder, uint32_t from, uint32_t to) {
    uint32_t first = unwinder->checked;
    if (first < from || first >= to)
        first = from;
    unwinder->checked = to - first < CHECKED_PER_EVENT ? to : first + CHECKED_PER_EVENT;
    return all_hold(unwinder, first, unwinder->checked);
}

static bool is_shown_whole(const struct mt_unwinder *unwinder, uint32_t count, uint64_t fresh) {
    return unwinder->dropped == 0 && fresh + count <= mt_unwind_depth;
}

/* True when the first `count` cached frames still stand, below `fresh` new ones: of a stack that is
 * not shown whole. */
MT_COLD static bool deep_frames_hold(struct mt_unwinder *unwinder, uint32_t count, uint64_t fresh) {
    uint64_t dropped = count > MT_OUTERMOST ? unwinder->dropped : 0;
    if (fresh + count + dropped <= mt_unwind_depth)
        return all_hold(unwinder, 0, count);
    uint32_t outermost = count < MT_OUTERMOST ? count : MT_OUTERMOST;
    uint64_t inner = mt_unwind_depth - mt_unwind_outermost();
    uint64_t shown = fresh < inner ? inner - fresh : 0;
    uint32_t first = shown < count - outermost ? count - (uint32_t)shown : outermost;
    return all_hold(unwinder, first, count) && all_hold(unwinder, 0, outermost) &&
           some_hold(unwinder, outermost, first);
}

/* The cached frame that is the same as `frame`. fresh counts the new frames below it, *candidate
 * moves rootwards as the walk does. Returns its index + 1, or 0. */
static uint32_t match(const struct mt_unwinder *unwinder, const struct mt_frame *frame,
                      uint64_t fresh, uint32_t *candidate) {
    const struct mt_cached_frame *cache = unwinder->cache;
    while (*candidate > 0 && cache[*candidate - 1].frame.sp < frame->sp)
        --*candidate;
    if (*candidate == 0)
        return 0;
    const struct mt_cached_frame *cached = &cache[*candidate - 1];
    if (!mt_is_cached_frame(cached, frame))
        return 0;
    /* Frames that the stack will show must not be among the dropped ones. */
    if (mt_unlikely(unwinder->dropped && *candidate > MT_OUTERMOST &&
                    fresh + *candidate < (uint64_t)mt_unwind_depth + MT_OUTERMOST)) {
        *candidate = MT_OUTERMOST;
        return 0;
    }
    return *candidate;
}

/* ---- Layer 2: the rules ---- */

struct walk {
    uint64_t fresh;   /* new frames */
    uint64_t proven;  /* of these, without the outer ones that are doubtful; 0: all */
    uint32_t matched; /* cached frames that go on below them */
    enum mt_walk_end end;
};

enum step { STEP_CALLER, STEP_OUTERMOST, STEP_DECLINED, STEP_LOST, STEP_AWAY, STEP_SIGNAL };

static uint32_t frame_use(struct mt_rule rule) {
    if (mt_unlikely(rule.kind == MT_RULE_NO_TABLE || rule.kind == MT_RULE_NO_IMAGE))
        return MT_FP_LEADS;
    return mt_rule_use(rule) | (rule.reads_cfa ? MT_READS_CFA : 0);
}

/* Where a frame of a rule that reads its CFA has it. */
static uintptr_t cfa_slot(struct mt_rule rule, const struct mt_frame *frame) {
    return frame->fp + (uintptr_t)(intptr_t)rule.cfa_offset;
}

/* Reads the CFA; 0 where it cannot be. */
static uintptr_t read_cfa(struct mt_rule rule, const struct mt_frame *frame,
                          struct mt_address_range *stack) {
    uintptr_t slot = cfa_slot(rule, frame);
    return slot >= frame->sp && slot % 8 == 0 && mt_stack_bounds_holds(stack, slot)
               ? mt_stack_word(slot)
               : 0;
}

/* Whether a word is stack, and none that the frame's callees may have written to. */
static bool holds_slot(struct mt_address_range *stack, const struct mt_frame *frame,
                       uintptr_t slot) {
    return slot >= frame->sp && mt_stack_bounds_holds(stack, slot);
}

/* The caller as the fields of a rule have it. It must lie upwards inside the stack. */
static bool apply(struct mt_rule rule, const struct mt_frame *frame, struct mt_address_range *stack,
                  struct mt_cached_frame *caller) {
    uintptr_t base = rule.is_from_fp ? frame->fp : frame->sp;
    uintptr_t cfa = base + (uintptr_t)(intptr_t)rule.cfa_offset;
    if (mt_unlikely(rule.reads_cfa))
        cfa = read_cfa(rule, frame, stack);
    uintptr_t pc_slot = cfa + (uintptr_t)mt_rule_pc_offset(rule);
    if (cfa <= frame->sp || !holds_slot(stack, frame, pc_slot))
        return false;
    caller->fp_slot = 0;
    caller->frame.fp = frame->fp;
    if (rule.restores_fp) {
        caller->fp_slot = (rule.reads_cfa ? base : cfa) + (uintptr_t)(intptr_t)rule.fp_offset;
        if (!holds_slot(stack, frame, caller->fp_slot))
            return false;
        caller->frame.fp = mt_stack_word(caller->fp_slot);
    }
    caller->frame.sp = cfa;
    caller->frame.pc = mt_return_address_in(mt_stack_word(pc_slot));
    mt_note_pc_slot(&caller->frame, pc_slot);
    return true;
}

#if defined(__x86_64__)

/* Goes by the frame pointer, as far as that is one. Assembly that begins a fiber ends its stack:
 * its rbp points nowhere. That rests on the frame alone, so that the stack may be cached, unless it
 * is a goroutine that waits there. */
static enum step step_without_table(const struct mt_frame *frame, struct mt_address_range *stack,
                                    struct mt_cached_frame *caller, struct walk *walk,
                                    bool is_in_image) {
    if (is_in_image && !walk->proven && !mt_frame_pointer_is_near(frame))
        return STEP_AWAY;
    switch (mt_frame_pointer_caller(frame, stack, caller)) {
    case MT_FRAME_POINTER_NONE:
        return STEP_LOST;
    case MT_FRAME_POINTER_DOUBTFUL:
        if (!walk->proven)
            walk->proven = walk->fresh;
        return STEP_CALLER;
    case MT_FRAME_POINTER_BEHIND_CALL:
        return STEP_CALLER;
    case MT_FRAME_POINTER_PROVEN:
        walk->proven = 0;
        return STEP_CALLER;
    }
    return STEP_LOST;
}

/* Whether a function without table that begins at an address may hold pc. */
static bool may_hold(uintptr_t function, uintptr_t pc) {
    return pc - function < MT_LONGEST_FUNCTION && mt_rule_is_missing(mt_rule_for(function + 1));
}

/* The call before a return address, if a function without table that holds pc can have been called
 * by it. */
static enum mt_call call_that_led_to(uintptr_t pc, uintptr_t return_address) {
    uintptr_t target;
    enum mt_call call = mt_call_before(return_address, &target);
    if (call != MT_CALL_DIRECT || may_hold(target, pc))
        return call;
    uintptr_t merged = mt_jump_at(target);
    return merged && may_hold(merged, pc) ? call : MT_CALL_NONE;
}

/* Code without a table, whose epilogue tells its caller: a call of it, with the stack aligned as
 * the ABI has it. Of a call by pointer nothing shows that it led there: it must be in code that has
 * a table or an epilogue itself. */
static bool step_by_epilogue(struct mt_rule rule, const struct mt_frame *frame,
                             struct mt_address_range *stack, struct mt_cached_frame *caller,
                             struct walk *walk) {
    if (!apply(rule, frame, stack, caller) || caller->frame.sp % 16 != 0)
        return false;
    enum mt_call call = call_that_led_to(frame->pc, caller->frame.pc);
    if (call == MT_CALL_NONE)
        return false;
    struct mt_rule next = mt_rule_for(caller->frame.pc);
    if (!mt_rule_is_missing(next))
        walk->proven = 0;
    return !mt_rule_is_missing(next) || next.kind == MT_RULE_EPILOGUE || call == MT_CALL_DIRECT;
}

/* From a frame whose rule is missing to its caller. */
static enum step step_without_rule(struct mt_rule rule, struct mt_cached_frame *from,
                                   struct mt_address_range *stack, struct mt_cached_frame *caller,
                                   struct walk *walk) {
    if (rule.kind == MT_RULE_EPILOGUE && step_by_epilogue(rule, &from->frame, stack, caller, walk))
        return STEP_CALLER;
    from->use = MT_FP_LEADS;
    return step_without_table(&from->frame, stack, caller, walk, rule.kind != MT_RULE_NO_IMAGE);
}

#else

/* Where the frame pointer is 0, no caller is (AAPCS64 6.4.6): so the entry code of a program has
 * it. Any other leads to the frame record of the caller, whose place in its frame no table tells:
 * libunwind goes on. */
static enum step step_without_rule(struct mt_rule rule, struct mt_cached_frame *from,
                                   struct mt_address_range *stack, struct mt_cached_frame *caller,
                                   struct walk *walk) {
    (void)stack, (void)caller, (void)walk;
    from->use = MT_FP_LEADS;
    bool is_entry = rule.kind != MT_RULE_NO_IMAGE && from->frame.fp == 0;
    return is_entry ? STEP_OUTERMOST : STEP_DECLINED;
}

#endif

/* From a frame to its caller. */
static enum step step(struct mt_cached_frame *from, struct mt_address_range *stack,
                      struct mt_cached_frame *caller, struct walk *walk) {
    const struct mt_frame *frame = &from->frame;
    struct mt_rule rule = mt_rule_for(frame->pc);
    from->use = frame_use(rule);
    if (rule.kind == MT_RULE_OUTERMOST)
        return STEP_OUTERMOST;
    if (mt_unlikely(mt_rule_is_missing(rule)))
        return step_without_rule(rule, from, stack, caller, walk);
    if (mt_unlikely(rule.kind == MT_RULE_SIGNAL))
        return STEP_SIGNAL;
    if (rule.kind != MT_RULE_FRAME || !apply(rule, frame, stack, caller))
        return mt_rule_is_of_damage(rule) ? STEP_LOST : STEP_DECLINED;
    return caller->frame.pc == 0 ? STEP_OUTERMOST : STEP_CALLER;
}

/* False when the cached frames are of another stack, which may be gone and must not be touched. */
static bool cache_is_of(struct mt_unwinder *unwinder, struct mt_address_range *stack) {
    uintptr_t top = unwinder->cache[0].frame.sp - 8;
    return (top >= stack->low && top < stack->high) ||
           (stack == &unwinder->other_stack && mt_stack_bounds_holds(stack, top));
}

/* From a new frame, which is the same as cached frame `same`, along cached ones as far as they
 * have tables and stand, to the first that has changed or needs more than a table. The way from one
 * to the next needs no rule: it is that of the stack in the cache.
 *
 * *same    moves rootwards, to the cached frame that lies where the returned one does
 * changed  the innermost cached frame that does not stand
 * returns  the last new frame; it has pc 0 where the stack ends before it */
static struct mt_cached_frame *follow_cache(struct mt_unwinder *unwinder,
                                            struct mt_cached_frame *at, uint32_t *same,
                                            uint32_t changed, struct walk *walk) {
    while (*same > changed && unwinder->cache[*same - 1].use & MT_USES_TABLE) {
        at->use = unwinder->cache[*same - 1].use & MT_RULE_USES;
        const struct mt_cached_frame *cached = &unwinder->cache[--*same - 1];
        struct mt_cached_frame *caller = fresh_frame(unwinder, ++walk->fresh);
        caller->frame.sp = cached->frame.sp;
        caller->frame.pc = mt_return_address_in(mt_stack_word(mt_pc_slot(&cached->frame)));
        mt_note_pc_slot(&caller->frame, mt_pc_slot(&cached->frame));
        caller->frame.fp = cached->fp_slot ? mt_stack_word(cached->fp_slot) : at->frame.fp;
        caller->fp_slot = cached->fp_slot;
        at = caller;
    }
    return at;
}

/* The innermost of the first `count` cached frames that has changed, counted from 1; 0 where all
 * stand that the stack will show of them, below `fresh` new ones. */
static uint32_t innermost_changed(struct mt_unwinder *unwinder, uint32_t count, uint64_t fresh) {
    if (mt_unlikely(!is_shown_whole(unwinder, count, fresh)) &&
        deep_frames_hold(unwinder, count, fresh))
        return 0;
    return mt_innermost_changed(unwinder, count);
}

/* A new frame is the same as cached frame `same`. Returns NULL where the older ones stand as well,
 * so that the walk is at its end; else the frame to go on from. From the outermost ones of a stack
 * that was too deep, no cached one leads to the dropped ones. */
static struct mt_cached_frame *join_cache(struct mt_unwinder *unwinder, struct mt_cached_frame *at,
                                          uint32_t same, uint32_t *candidate, struct walk *walk) {
    uint32_t changed = innermost_changed(unwinder, same - 1, walk->fresh + 1);
    walk->matched = same;
    if (mt_likely(changed == 0))
        return NULL;
    walk->matched = 0;
    *candidate = 0;
    if (mt_likely(unwinder->dropped == 0 || changed > MT_OUTERMOST)) {
        at = follow_cache(unwinder, at, &same, changed, walk);
        *candidate = same - 1;
    }
    return at;
}

/* Whether an unwind table tells the caller of a frame. */
static bool has_table(const struct mt_cached_frame *frame) {
    return frame->use & (MT_USES_TABLE | MT_READS_CFA);
}

/* Whether a goroutine waits for the C code that the outermost new frame has called. Go itself runs
 * on the stacks of threads as well, where goroutines may have gone elsewhere. */
static bool is_called_by_goroutine(struct mt_unwinder *unwinder, const struct mt_cached_frame *at,
                                   struct mt_address_range *stack, const struct walk *walk) {
    bool has_called_c = walk->fresh < MT_FRESH_INNER &&
                        (walk->fresh == 1 || has_table(&unwinder->fresh[walk->fresh - 2]));
    return has_called_c && mt_goroutine_waits(&at->frame, stack, &unwinder->goroutine);
}

/* Whether the outermost new frame can be the assembly that begins a fiber: it calls C, which has
 * tables. Below code without them the image has none, and nothing says where that was called. */
static bool may_begin_fiber(const struct mt_unwinder *unwinder, const struct walk *walk) {
    if (walk->fresh >= MT_FRESH_INNER)
        return true;
    return walk->fresh > 1 && has_table(&unwinder->fresh[walk->fresh - 2]);
}

static enum mt_walk_end end_after(struct mt_unwinder *unwinder, enum step last,
                                  const struct mt_cached_frame *at, struct mt_address_range *stack,
                                  const struct walk *walk) {
    switch (last) {
    case STEP_LOST:
        return MT_WALK_LOST;
    case STEP_DECLINED:
        return MT_WALK_DECLINED;
    case STEP_SIGNAL:
        return walk->proven || walk->fresh > MT_FRESH_INNER ? MT_WALK_DECLINED : MT_WALK_SIGNAL;
    case STEP_AWAY:
        if (is_called_by_goroutine(unwinder, at, stack, walk))
            return MT_WALK_GOROUTINE;
        return may_begin_fiber(unwinder, walk) ? MT_WALK_CACHED : MT_WALK_LOST;
    case STEP_OUTERMOST:
    case STEP_CALLER:
        break;
    }
    return MT_WALK_CACHED;
}

/* fp_slot  where leaf.fp lies, or 0 */
static struct walk walk_stack(struct mt_unwinder *unwinder, struct mt_frame leaf,
                              uintptr_t fp_slot) {
    struct walk walk = {.end = MT_WALK_CACHED};
    struct mt_address_range *stack = mt_stack_bounds_enter(unwinder, leaf.sp - 8);
    uint32_t candidate = cache_is_of(unwinder, stack) ? unwinder->cached : 0;
    struct mt_cached_frame *at = unwinder->fresh;
    at->frame = leaf;
    at->fp_slot = fp_slot;
    for (;;) {
        uint32_t same = match(unwinder, &at->frame, walk.fresh, &candidate);
        if (same) {
            at = join_cache(unwinder, at, same, &candidate, &walk);
            if (mt_likely(!at) || at->frame.pc == 0)
                return walk;
        }
        walk.fresh++;
        struct mt_cached_frame *caller = fresh_frame(unwinder, walk.fresh);
        enum step result = step(at, stack, caller, &walk);
        if (mt_likely(result == STEP_CALLER)) {
            at = caller;
            continue;
        }
        walk.end = end_after(unwinder, result, at, stack, &walk);
        return walk;
    }
}

/* ---- Keeping the walked stack ---- */

/* What the next frame has of the first `count` cached ones. */
static struct mt_caller caller_on_top(const struct mt_unwinder *unwinder, uint32_t count) {
    return count > 0 ? mt_caller_of(&unwinder->cache[count - 1])
                     : (struct mt_caller){unwinder->root_hash, 0, 0};
}

/* A frame in its place has been called from, by the one that is its callee in this stack. */
static void check_sp(struct mt_unwinder *unwinder, struct mt_cached_frame *place,
                     const struct mt_cached_frame *callee) {
    if (mt_unlikely(callee->use & MT_READS_CFA))
        mt_cache_check_sp(unwinder, place, cfa_slot(mt_rule_for(callee->frame.pc), &callee->frame));
}

/* Puts the fresh frames from..<to, counted from the leaf, on top of the first `at` cached ones.
 * caller_use  of the caller of the outermost of them. To most code that is compiled with
 *             optimisation, the frame pointer does not matter: nothing is to be checked then */
static void append(struct mt_unwinder *unwinder, uint32_t at, uint64_t from, uint64_t to,
                   uint32_t caller_use) {
    struct mt_caller caller = caller_on_top(unwinder, at);
    caller.use = caller_use;
    for (uint64_t i = to; i-- > from; at++) {
        const struct mt_cached_frame *fresh = fresh_frame(unwinder, i);
        struct mt_cached_frame *place = &unwinder->cache[at];
        mt_cache_put(unwinder, place, caller, &fresh->frame, fresh->fp_slot, fresh->use);
        if (i > 0)
            check_sp(unwinder, place, fresh_frame(unwinder, i - 1));
        caller = mt_caller_of(place);
    }
    unwinder->cached = at;
}

/* Where matched and fresh frames do not fit together: keeps the outermost and the innermost. */
__attribute__((noinline, cold)) static void append_deep(struct mt_unwinder *unwinder,
                                                        struct walk walk) {
    uint64_t depth = walk.matched + unwinder->dropped + walk.fresh;
    uint32_t matched = walk.matched;
    uint64_t fresh = walk.fresh;
    if (matched < MT_OUTERMOST) {
        uint64_t missing = MT_OUTERMOST - matched;
        append(unwinder, matched, fresh - missing, fresh, caller_on_top(unwinder, matched).use);
        fresh -= missing;
        matched = MT_OUTERMOST;
    }
    uint64_t from_fresh = fresh < MT_CACHE_KEEPS ? fresh : MT_CACHE_KEEPS;
    uint32_t from_cache = 0;
    if (from_fresh == fresh) {
        from_cache = matched - MT_OUTERMOST;
        if (from_cache > MT_CACHE_KEEPS - from_fresh)
            from_cache = MT_CACHE_KEEPS - (uint32_t)from_fresh;
    }
    memmove(&unwinder->cache[MT_OUTERMOST], &unwinder->cache[matched - from_cache],
            from_cache * sizeof unwinder->cache[0]);
    for (struct mt_cached_frame *frame = &unwinder->cache[MT_OUTERMOST];
         frame < &unwinder->cache[MT_OUTERMOST + from_cache]; frame++) {
        frame->first_check = (uint16_t)mt_end_of_checks(frame - 1);
        mt_cache_put_checks(unwinder, frame);
        bool is_last = frame + 1 == &unwinder->cache[MT_OUTERMOST + from_cache];
        check_sp(unwinder, frame, is_last ? fresh_frame(unwinder, walk.fresh - 1) : frame + 1);
    }
    /* Of the frames that are dropped nobody knows. */
    append(unwinder, MT_OUTERMOST + from_cache, 0, from_fresh,
           caller_on_top(unwinder, MT_OUTERMOST + from_cache).use |
               (from_cache == 0 ? MT_FP_MATTERS : 0));
    unwinder->dropped = depth - unwinder->cached;
}

static void keep(struct mt_unwinder *unwinder, struct walk walk) {
    if (walk.matched <= MT_OUTERMOST)
        unwinder->dropped = 0;
    if (walk.matched > 0) {
        const struct mt_cached_frame *met = fresh_frame(unwinder, walk.fresh);
        struct mt_cached_frame *cached = &unwinder->cache[walk.matched - 1];
        mt_cache_renew(unwinder, cached, met->frame.fp, met->fp_slot, mt_pc_slot(&met->frame));
        if (walk.fresh > 0)
            check_sp(unwinder, cached, fresh_frame(unwinder, walk.fresh - 1));
    }
    if (mt_unlikely(walk.matched + walk.fresh > MT_CACHE_FRAMES || walk.fresh > MT_FRESH_INNER))
        append_deep(unwinder, walk);
    else
        append(unwinder, walk.matched, 0, walk.fresh, caller_on_top(unwinder, walk.matched).use);
}

static enum mt_walk_end walk_and_keep(struct mt_unwinder *unwinder, struct mt_frame leaf,
                                      uintptr_t fp_slot, uint32_t *known) {
    struct walk walk = walk_stack(unwinder, leaf, fp_slot);
    if (mt_likely(walk.end == MT_WALK_CACHED)) {
        keep(unwinder, walk);
    } else {
        uint64_t proven = walk.proven ? walk.proven : walk.fresh;
        *known = proven < MT_FRESH_INNER ? (uint32_t)proven : MT_FRESH_INNER;
    }
    mt_unwind_allow_short_walk(unwinder);
    return walk.end;
}

enum mt_walk_end mt_unwind_walk(struct mt_unwinder *unwinder, struct mt_frame leaf,
                                uint32_t *known) {
    return walk_and_keep(unwinder, leaf, mt_fp_slot_in_hook(&leaf), known);
}

/* From where a signal came to the caller of the function there. */
static bool step_from_interrupted(struct mt_rule rule, const struct mt_frame *interrupted,
                                  struct mt_address_range *stack, struct mt_cached_frame *caller) {
#if defined(__x86_64__)
    if (rule.kind == MT_RULE_NO_IMAGE)
        return mt_frame_pointer_caller(interrupted, stack, caller) != MT_FRAME_POINTER_NONE;
#endif
    return rule.kind == MT_RULE_FRAME && apply(rule, interrupted, stack, caller) &&
           caller->frame.pc != 0;
}

enum mt_walk_end mt_unwind_walk_interrupted(struct mt_unwinder *unwinder,
                                            struct mt_frame interrupted, uint32_t *known) {
    struct mt_address_range *stack = mt_stack_bounds_enter(unwinder, interrupted.sp);
    struct mt_rule rule = mt_rule_for(interrupted.pc + 1); /* which looks in front of it */
    struct mt_cached_frame caller;
    *known = 0;
    if (!step_from_interrupted(rule, &interrupted, stack, &caller))
        return MT_WALK_DECLINED;
    enum mt_walk_end end = walk_and_keep(unwinder, caller.frame, caller.fp_slot, known);
    /* That a JIT compiler's code had a frame pointer there shows a way to the root only. */
    return rule.kind == MT_RULE_FRAME || end == MT_WALK_CACHED ? end : MT_WALK_DECLINED;
}
