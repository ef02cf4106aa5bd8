/* Takes backtraces. See unwind.h. */
#include "unwind.h"

#include "image_map.h"
#include "libunwind_backend.h"
#include "stack_bounds.h"
#include "trace_file.h"
#include "unwind_compare.h"
#include "unwind_rules.h"

uint32_t mt_unwind_depth = 128;
bool mt_unwind_only_libunwind, mt_unwind_compares;

static uint32_t no_stack(void) {
    mt_trace_file_count(MT_COUNT_STACKS_MISSING, 1);
    return MT_STACK_NONE;
}

/* Describes images before nodes that lie in them are made. */
static void know_images(const uintptr_t *pcs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (mt_image_map_may_be_new(pcs[i])) {
            mt_image_map_refresh();
            return;
        }
}

/* pcs leaf first. Finds or makes the id of a whole (or cut) stack. */
static uint32_t intern(struct mt_unwinder *unwinder, const uintptr_t *pcs, uint32_t count,
                       bool cut) {
    if (count == 0)
        return no_stack();
    uint64_t hash = mt_stack_root_hash(cut);
    for (uint32_t i = count; i-- > 0;)
        unwinder->hashes[i] = hash = mt_stack_hash(hash, pcs[i]);
    if (cut)
        mt_trace_file_count(MT_COUNT_STACKS_CUT, 1);
    uint32_t id = mt_stack_table_find(hash);
    if (id != MT_STACK_NONE)
        return id;
    know_images(pcs, count);
    return mt_stack_table_intern(pcs, unwinder->hashes, count, cut, true);
}

/* The frames of the recorder itself come first: the leaf's pc tells where the host begins. */
static uint32_t host_begins(const uintptr_t *pcs, uint32_t count, uintptr_t leaf_pc) {
    for (uint32_t i = 0; i < count && i < 16; i++)
        if (pcs[i] == leaf_pc)
            return i;
    return count;
}

/* ---- Layer 3: libunwind ---- */

/* known: frames that our own walk found before it was declined, in unwinder->fresh; they are the
 * stack, marked as cut, where libunwind is missing. */
static uint32_t capture_with_libunwind(struct mt_unwinder *unwinder, struct mt_frame leaf,
                                       uint32_t known) {
    uint32_t wanted = mt_unwind_depth + 16;
    uint32_t total = mt_libunwind_backtrace(unwinder->pcs, wanted);
    uint32_t first = host_begins(unwinder->pcs, total, leaf.pc);
    if (first == total) {
        for (uint32_t i = 0; i < known; i++)
            unwinder->pcs[i] = unwinder->fresh[i].frame.pc;
        unwinder->pcs[0] = leaf.pc;
        return intern(unwinder, unwinder->pcs, known > 0 ? known : 1, true);
    }
    bool is_cut = total == wanted || total - first > mt_unwind_depth;
    uint32_t kept = total - first;
    if (kept > mt_unwind_depth)
        kept = mt_unwind_depth;
    /* libunwind ends some stacks with a frame at 0. */
    while (kept > 1 && unwinder->pcs[first + kept - 1] == 0)
        kept--;
    return intern(unwinder, unwinder->pcs + first, kept, is_cut);
}

#if defined(__x86_64__)

/* ---- Layer 1: the stack cache ---- */

static uintptr_t load(uintptr_t address) {
    return *(const uintptr_t *)address;
}

/* True when what the cached frames below `index` were read from is unchanged. The return address
 * of a frame lies just below its stack pointer. */
static bool older_frames_hold(const struct mt_cached_frame *cache, uint32_t index) {
    for (uint32_t i = index; i-- > 0;) {
        const struct mt_cached_frame *frame = &cache[i];
        if (load(frame->frame.sp - 8) != frame->frame.pc)
            return false;
        if (frame->fp_slot && load(frame->fp_slot) != frame->frame.fp)
            return false;
    }
    return true;
}

/* The cached frame that is the same as `frame`, with all older ones still standing.
 * *candidate moves rootwards as the walk does. Returns its index + 1, or 0. */
static uint32_t match(const struct mt_unwinder *unwinder, const struct mt_frame *frame,
                      uint32_t *candidate) {
    const struct mt_cached_frame *cache = unwinder->cache;
    while (*candidate > 0 && cache[*candidate - 1].frame.sp < frame->sp)
        --*candidate;
    if (*candidate == 0)
        return 0;
    const struct mt_frame *cached = &cache[*candidate - 1].frame;
    if (cached->sp != frame->sp || cached->pc != frame->pc || cached->fp != frame->fp)
        return 0;
    if (!older_frames_hold(cache, *candidate - 1)) {
        *candidate = 0;
        return 0;
    }
    return *candidate;
}

/* ---- Layer 2: the rules ---- */

enum step { STEP_CALLER, STEP_OUTERMOST, STEP_DECLINED };

/* From a frame to its caller. The rule must lead upwards inside the stack, or it is declined. */
static enum step step(const struct mt_frame *frame, struct mt_address_range *stack,
                      struct mt_cached_frame *caller) {
    struct mt_rule rule = mt_rule_for(frame->pc);
    if (rule.kind == MT_RULE_OUTERMOST)
        return STEP_OUTERMOST;
    if (rule.kind != MT_RULE_FRAME)
        return STEP_DECLINED;
    uintptr_t cfa =
        (rule.is_from_fp ? frame->fp : frame->sp) + (uintptr_t)(intptr_t)rule.cfa_offset;
    if (cfa <= frame->sp || !mt_stack_bounds_holds(stack, cfa - 8))
        return STEP_DECLINED;
    caller->fp_slot = 0;
    caller->frame.fp = frame->fp;
    if (rule.restores_fp) {
        caller->fp_slot = cfa + (uintptr_t)(intptr_t)rule.fp_offset;
        if (caller->fp_slot < frame->sp || !mt_stack_bounds_holds(stack, caller->fp_slot))
            return STEP_DECLINED;
        caller->frame.fp = load(caller->fp_slot);
    }
    caller->frame.sp = cfa;
    caller->frame.pc = load(cfa - 8);
    return caller->frame.pc == 0 ? STEP_OUTERMOST : STEP_CALLER;
}

enum walk_end { WALK_ROOT, WALK_MATCH, WALK_DEEP, WALK_DECLINED };

struct walk {
    uint32_t fresh;   /* new frames, leaf first in unwinder->fresh */
    uint32_t matched; /* cached frames that go on below them */
    enum walk_end end;
};

static struct walk walk_stack(struct mt_unwinder *unwinder, struct mt_frame leaf) {
    struct walk walk = {0, 0, WALK_DECLINED};
    struct mt_address_range *stack = mt_stack_bounds_enter(unwinder, leaf.sp - 8);
    uint32_t candidate = unwinder->cached;
    struct mt_cached_frame *fresh = unwinder->fresh;
    fresh[0].frame = leaf;
    fresh[0].fp_slot = leaf.sp - 16; /* the hook pushed it there */
    for (;;) {
        walk.matched = match(unwinder, &fresh[walk.fresh].frame, &candidate);
        if (walk.matched) {
            walk.end = WALK_MATCH;
            return walk;
        }
        walk.fresh++;
        enum step result = step(&fresh[walk.fresh - 1].frame, stack, &fresh[walk.fresh]);
        if (result == STEP_CALLER && walk.fresh < mt_unwind_depth)
            continue;
        walk.end = result == STEP_OUTERMOST  ? WALK_ROOT
                   : result == STEP_DECLINED ? WALK_DECLINED
                                             : WALK_DEEP;
        return walk;
    }
}

/* Replaces the cached frames above the matched ones by the fresh ones; returns the leaf's hash. */
static uint64_t update_cache(struct mt_unwinder *unwinder, const struct walk *walk) {
    uint64_t hash = walk->matched ? unwinder->cache[walk->matched - 1].hash : unwinder->root_hash;
    uint32_t at = walk->matched;
    for (uint32_t i = walk->fresh; i-- > 0; at++) {
        hash = mt_stack_hash(hash, unwinder->fresh[i].frame.pc);
        unwinder->cache[at] = unwinder->fresh[i];
        unwinder->cache[at].hash = hash;
    }
    unwinder->cached = at;
    return hash;
}

static uint32_t intern_cached(struct mt_unwinder *unwinder) {
    uint32_t count = unwinder->cached;
    for (uint32_t i = 0; i < count; i++) {
        unwinder->pcs[i] = unwinder->cache[count - 1 - i].frame.pc;
        unwinder->hashes[i] = unwinder->cache[count - 1 - i].hash;
    }
    know_images(unwinder->pcs, count);
    return mt_stack_table_intern(unwinder->pcs, unwinder->hashes, count, false, true);
}

/* Deeper than the limit: the innermost frames only, below a mark. */
static uint32_t intern_cut(struct mt_unwinder *unwinder, const struct walk *walk) {
    uint32_t count = 0;
    for (; count < walk->fresh && count < mt_unwind_depth; count++)
        unwinder->pcs[count] = unwinder->fresh[count].frame.pc;
    for (uint32_t i = walk->matched; i-- > 0 && count < mt_unwind_depth; count++)
        unwinder->pcs[count] = unwinder->cache[i].frame.pc;
    return intern(unwinder, unwinder->pcs, count, true);
}

static void begin_capture(struct mt_unwinder *unwinder) {
    uint64_t generation = __atomic_load_n(&mt_image_map_generation, __ATOMIC_ACQUIRE);
    uint64_t root_hash = mt_stack_root_hash(false);
    if (generation == unwinder->generation && root_hash == unwinder->root_hash)
        return;
    unwinder->generation = generation;
    unwinder->root_hash = root_hash;
    unwinder->cached = 0;
}

uint32_t mt_unwind_capture(struct mt_unwinder *unwinder, struct mt_frame leaf) {
    if (mt_unlikely(mt_unwind_only_libunwind))
        return capture_with_libunwind(unwinder, leaf, 0);
    begin_capture(unwinder);
    struct walk walk = walk_stack(unwinder, leaf);
    if (walk.end == WALK_DECLINED)
        return capture_with_libunwind(unwinder, leaf, walk.fresh);
    if (walk.end == WALK_DEEP || walk.fresh + walk.matched > mt_unwind_depth)
        return intern_cut(unwinder, &walk);
    uint64_t hash = update_cache(unwinder, &walk);
    if (mt_unlikely(mt_unwind_compares))
        mt_unwind_compare(unwinder, leaf);
    uint32_t id = mt_stack_table_find(hash);
    return mt_likely(id != MT_STACK_NONE) ? id : intern_cached(unwinder);
}

#else /* no rules yet for this machine: libunwind walks */

uint32_t mt_unwind_capture(struct mt_unwinder *unwinder, struct mt_frame leaf) {
    return capture_with_libunwind(unwinder, leaf, 0);
}

#endif
