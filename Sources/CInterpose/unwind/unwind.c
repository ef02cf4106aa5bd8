/* Takes backtraces. See unwind.h. */
#include "unwind/unwind.h"

#include "loader/image_map.h"
#include "trace/trace_file.h"
#include "unwind/libunwind_backend.h"
#include "unwind/unwind_compare.h"
#include "unwind/unwind_goroutine.h"
#include "unwind/unwind_memo.h"
#include "unwind/unwind_rules.h"
#include "unwind/unwind_short_walk.h"
#include "unwind/unwind_signal.h"
#include "unwind/unwind_walk.h"
#include "unwind/unwind_window.h"
#include <string.h>

MT_COLD void mt_unwind_forget(struct mt_unwinder *unwinder) {
    unwinder->cached = 0;
    mt_unwind_allow_short_walk(unwinder);
    unwinder->table_resets = mt_stack_table_version().resets;
    mt_memo_forget(&unwinder->memos);
    mt_recent_stacks_forget(&unwinder->recent);
}

/* Locked memory stays as it is, and is as good. */
void mt_unwind_empty(struct mt_unwinder *unwinder) {
    mt_os_empty_pages(unwinder, sizeof *unwinder & -(size_t)MT_PAGE_SIZE);
}

static uint32_t no_stack(void) {
    mt_trace_file_count(MT_COUNT_STACKS_MISSING, 1);
    return MT_STACK_NONE;
}

/* Describes images before nodes that lie in them are made. A frame that has a node, and so have all
 * of its callers, has had this done. */
static void know_images(const uintptr_t *pcs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t pc = mt_stack_unmarked(pcs[i]);
        if (!mt_image_map_is_overdue() && !mt_image_map_may_be_new(pc))
            continue;
        if (mt_image_map_refresh())
            return;
        mt_image_map_add_running(pc);
    }
}

static uint32_t intern_path(const struct mt_stack_path *path) {
    struct mt_stack_known known = mt_stack_table_find(path);
    if (mt_likely(known.missing == 0))
        return known.id;
    know_images(path->pcs, known.missing);
    return mt_stack_table_add(path, known);
}

static uint32_t intern(struct mt_unwinder *unwinder, struct mt_kept_frames kept) {
    if (kept.count == 0)
        return no_stack();
    uint64_t hash = mt_stack_root_hash(kept.lacks_root);
    for (uint32_t i = kept.count; i-- > 0;)
        unwinder->hashes[i] = hash = mt_stack_hash(hash, kept.pcs[i]);
    return intern_path(
        &(struct mt_stack_path){kept.pcs, unwinder->hashes, kept.count, kept.lacks_root});
}

/* ---- Layer 3: libunwind ---- */

/* The frames of the recorder itself come first: the leaf's pc tells where the host begins. */
static uint32_t host_begins(const uintptr_t *pcs, uint32_t count, uintptr_t leaf_pc) {
    for (uint32_t i = 0; i < count && i < 16; i++)
        if (pcs[i] == leaf_pc)
            return i;
    return count;
}

/* Where nobody finds the rest: the frames that our own walk found, which are the first `known` of
 * unwinder->fresh. */
static struct mt_kept_frames keep_known(struct mt_unwinder *unwinder, struct mt_frame leaf,
                                        uint32_t known) {
    uint32_t count = known < 1 ? 1 : known < mt_unwind_depth ? known : mt_unwind_depth;
    unwinder->pcs[0] = leaf.pc;
    for (uint32_t i = 1; i < count; i++)
        unwinder->pcs[i] = unwinder->fresh[i].frame.pc;
    return (struct mt_kept_frames){unwinder->pcs, count, true};
}

/* Takes frames out of the middle of a whole stack, so that mt_unwind_depth are left.
 * dropped  frames that are missing there already */
static struct mt_kept_frames shorten(uintptr_t *pcs, uint32_t count, uint64_t dropped) {
    uint32_t outermost = mt_unwind_outermost(), inner = mt_unwind_depth - outermost;
    pcs[inner] = mt_stack_gap(count + dropped - mt_unwind_depth);
    memmove(&pcs[inner + 1], &pcs[count - outermost], outermost * sizeof *pcs);
    return (struct mt_kept_frames){pcs, mt_unwind_depth + 1, false};
}

/* Of frames that libunwind has found: those that signals have interrupted. */
static void mark_interrupted(uintptr_t *pcs, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (mt_rule_for(pcs[i - 1]).kind == MT_RULE_SIGNAL)
            pcs[i++] |= MT_STACK_EXACT_MARK;
}

static struct mt_kept_frames keep_libunwinds(struct mt_unwinder *unwinder, struct mt_frame leaf,
                                             uint32_t known) {
    uint32_t limit = mt_unwind_depth + 32;
    uint32_t total = mt_libunwind_backtrace(unwinder->pcs, limit);
    if (total == limit) /* seldom: the outermost frames take a walk through all others */
        total = mt_libunwind_backtrace(unwinder->pcs, limit = MT_LIBUNWIND_FRAMES);
    uint32_t first = host_begins(unwinder->pcs, total, leaf.pc);
    uintptr_t *pcs = unwinder->pcs + first;
    uint32_t count = total - first;
    if (count == 0)
        return keep_known(unwinder, leaf, known);
    /* libunwind ends some stacks with a frame at 0. */
    while (count > 1 && pcs[count - 1] == 0)
        count--;
    mark_interrupted(pcs, count);
    if (total == limit)
        return (struct mt_kept_frames){pcs, mt_unwind_depth, true};
    return count > mt_unwind_depth ? shorten(pcs, count, 0)
                                   : (struct mt_kept_frames){pcs, count, false};
}

static uint32_t capture_with_libunwind(struct mt_unwinder *unwinder, struct mt_frame leaf,
                                       uint32_t known) {
    mt_trace_file_count(MT_COUNT_STACKS_LIBUNWIND, 1);
    struct mt_kept_frames kept = keep_libunwinds(unwinder, leaf, known);
    if (kept.lacks_root)
        mt_trace_file_count(MT_COUNT_STACKS_ROOTLESS, 1);
    else if (kept.count > mt_unwind_depth)
        mt_trace_file_count(MT_COUNT_STACKS_CUT, 1);
    return intern(unwinder, kept);
}

/* ---- Layers 1 and 2: the walked stack is in the cache ---- */

static struct mt_kept_frames keep_cached(struct mt_unwinder *unwinder) {
    const struct mt_cached_frame *cache = unwinder->cache;
    uint64_t depth = mt_unwind_cached_depth(unwinder);
    bool is_deep = depth > mt_unwind_depth;
    uint32_t outermost = is_deep ? mt_unwind_outermost() : 0, count = 0;
    uint32_t inner = is_deep ? mt_unwind_depth - outermost : unwinder->cached;
    for (uint32_t i = 0; i < inner; i++)
        unwinder->pcs[count++] = cache[unwinder->cached - 1 - i].frame.pc;
    if (is_deep)
        unwinder->pcs[count++] = mt_stack_gap(depth - mt_unwind_depth);
    for (uint32_t i = outermost; i-- > 0;)
        unwinder->pcs[count++] = cache[i].frame.pc;
    return (struct mt_kept_frames){unwinder->pcs, count, false};
}

/* Walks the stack again, by libunwind. */
static void compare(struct mt_unwinder *unwinder, struct mt_frame leaf,
                    struct mt_kept_frames ours) {
    memcpy(unwinder->hashes, ours.pcs, ours.count * sizeof *ours.pcs);
    ours.pcs = unwinder->hashes;
    struct mt_kept_frames theirs = keep_libunwinds(unwinder, leaf, 0);
    if (!theirs.lacks_root)
        mt_unwind_compare(ours, theirs);
}

static uint32_t capture_lost(struct mt_unwinder *unwinder, struct mt_frame leaf, uint32_t known) {
    mt_trace_file_count(MT_COUNT_STACKS_ROOTLESS, 1);
    if (mt_unlikely(mt_unwind_compares))
        compare(unwinder, leaf, keep_known(unwinder, leaf, known));
    return intern(unwinder, keep_known(unwinder, leaf, known));
}

/* Behind the frames that are known, those of the goroutine. They are not cached: another goroutine
 * may wait at the same address of the thread's stack next, and its own may move. */
static uint32_t capture_goroutine(struct mt_unwinder *unwinder, struct mt_frame leaf,
                                  uint32_t known) {
    unwinder->pcs[0] = leaf.pc;
    for (uint32_t i = 1; i < known; i++)
        unwinder->pcs[i] = unwinder->fresh[i].frame.pc;
    bool lacks_root;
    uint32_t count = known + mt_goroutine_frames(&unwinder->goroutine, &unwinder->pcs[known],
                                                 MT_LIBUNWIND_FRAMES - known, &lacks_root);
    if (lacks_root)
        mt_trace_file_count(MT_COUNT_STACKS_ROOTLESS, 1);
    if (count <= mt_unwind_depth)
        return intern(unwinder, (struct mt_kept_frames){unwinder->pcs, count, lacks_root});
    mt_trace_file_count(MT_COUNT_STACKS_CUT, 1);
    struct mt_kept_frames kept = shorten(unwinder->pcs, count, 0);
    kept.lacks_root = lacks_root;
    return intern(unwinder, kept);
}

/* Behind the frames down to the one that was interrupted, those of the cached stack. */
static struct mt_kept_frames keep_interrupted(struct mt_unwinder *unwinder, uint32_t count) {
    for (uint32_t i = unwinder->cached; i-- > 0;)
        unwinder->pcs[count++] = unwinder->cache[i].frame.pc;
    if (count > mt_unwind_depth)
        return shorten(unwinder->pcs, count, unwinder->dropped);
    return (struct mt_kept_frames){unwinder->pcs, count, false};
}

static uint32_t capture_interrupted(struct mt_unwinder *unwinder, struct mt_frame leaf,
                                    uint32_t known) {
    uint32_t count = mt_signal_frames(unwinder, known);
    if (count == 0)
        return capture_with_libunwind(unwinder, leaf, 0);
    struct mt_kept_frames kept = keep_interrupted(unwinder, count);
    if (kept.count > mt_unwind_depth)
        mt_trace_file_count(MT_COUNT_STACKS_CUT, 1);
    uint32_t id = intern(unwinder, kept);
    if (mt_unlikely(mt_unwind_compares))
        compare(unwinder, leaf, kept);
    return id;
}

/* How many frames at the root of the cached stack have IDs, as far as known. */
static uint32_t count_known(const struct mt_unwinder *unwinder) {
    uint32_t count = unwinder->cached;
    while (count > 0 && unwinder->cache[count - 1].id == MT_STACK_NONE)
        count--;
    return count;
}

/* The frames of the cached stack from its first `known` ones on. */
static struct mt_stack_branch branch_of(struct mt_unwinder *unwinder, uint32_t known) {
    const struct mt_cached_frame *cache = unwinder->cache;
    uint32_t count = unwinder->cached - known;
    for (uint32_t i = 0; i < count; i++)
        unwinder->pcs[i] = cache[unwinder->cached - 1 - i].frame.pc;
    return (struct mt_stack_branch){.caller = known ? cache[known - 1].id : MT_STACK_NONE,
                                    .caller_pc = known ? cache[known - 1].frame.pc : 0,
                                    .pcs = unwinder->pcs,
                                    .count = count,
                                    .hash = cache[unwinder->cached - 1].hash};
}

/* Makes nodes for the cached stack, which this version of the table did not have. */
__attribute__((noinline)) static uint32_t add_cached(struct mt_unwinder *unwinder,
                                                     struct mt_stack_version version) {
    struct mt_stack_branch branch = branch_of(unwinder, count_known(unwinder));
    branch.version = version;
    know_images(branch.pcs, branch.count);
    struct mt_stack_made made = mt_stack_table_add_branch(&branch);
    if (made.id != MT_STACK_NONE)
        for (uint32_t i = 0; i < made.count; i++)
            unwinder->cache[unwinder->cached - 1 - i].id = made.id - i;
    return made.id;
}

/* As the index has it, even where the cache knows an ID: a path that is a stack, and was written
 * again as the caller of another one, has two, and events are to have the same one always. */
static uint32_t find_or_add_cached(struct mt_unwinder *unwinder) {
    struct mt_stack_version version = mt_stack_table_version();
    version.resets = unwinder->table_resets;
    uint32_t id = mt_stack_index_find(unwinder->cache[unwinder->cached - 1].hash);
    return id != MT_STACK_NONE ? id : add_cached(unwinder, version);
}

/* Notes a stack that was not met lately. */
static uint32_t note(struct mt_unwinder *unwinder, uint64_t hash, uint32_t id) {
    if (mt_likely(id != MT_STACK_NONE))
        mt_recent_stack_note(&unwinder->recent, hash, id);
    return id;
}

/* The path of kept frames, through a gap, has no hash in the cache, and making it takes as many
 * steps as there are frames. */
static uint32_t intern_deep(struct mt_unwinder *unwinder) {
    mt_trace_file_count(MT_COUNT_STACKS_CUT, 1);
    uint32_t outermost = mt_unwind_outermost();
    uint64_t gap = mt_stack_gap(mt_unwind_cached_depth(unwinder) - mt_unwind_depth);
    uint64_t hash = mt_window_hash(unwinder, mt_unwind_depth - outermost, outermost, gap);
    const struct mt_recent_stack *recent = mt_recent_stack_at(&unwinder->recent, hash);
    if (recent->hash == hash)
        return recent->id;
    return note(unwinder, hash, intern(unwinder, keep_cached(unwinder)));
}

/* The id of the stack in the cache, which is shown whole. One that comes back soon gets a memo. */
static uint32_t intern_shown(struct mt_unwinder *unwinder, const struct mt_frame *leaf) {
    struct mt_cached_frame *cached = &unwinder->cache[unwinder->cached - 1];
    uint64_t hash = cached->hash;
    struct mt_recent_stack *recent = mt_recent_stack_at(&unwinder->recent, hash);
    if (mt_unlikely(recent->hash != hash)) {
        cached->id = find_or_add_cached(unwinder);
        return note(unwinder, hash, cached->id);
    }
    cached->id = recent->id;
    if (unwinder->memos.rest == 0 && !recent->has_no_memo &&
        !mt_memo_remember(unwinder, leaf, recent->id))
        recent->has_no_memo = true;
    return recent->id;
}

__attribute__((noinline)) static uint32_t capture_by_long_walk(struct mt_unwinder *unwinder,
                                                               const struct mt_frame *leaf) {
    uint32_t known;
    enum mt_walk_end end = mt_unwind_walk(unwinder, *leaf, &known);
    if (mt_unlikely(end == MT_WALK_DECLINED))
        return capture_with_libunwind(unwinder, *leaf, known);
    if (mt_unlikely(end == MT_WALK_LOST))
        return capture_lost(unwinder, *leaf, known);
    if (mt_unlikely(end == MT_WALK_GOROUTINE))
        return capture_goroutine(unwinder, *leaf, known);
    if (mt_unlikely(end == MT_WALK_SIGNAL))
        return capture_interrupted(unwinder, *leaf, known);
    if (mt_unlikely(mt_unwind_compares))
        compare(unwinder, *leaf, keep_cached(unwinder));
    if (mt_unlikely(mt_unwind_cached_depth(unwinder) > mt_unwind_depth))
        return intern_deep(unwinder);
    return intern_shown(unwinder, leaf);
}

MT_INLINE uint32_t capture_by_walk(struct mt_unwinder *unwinder, const struct mt_frame *leaf,
                                   bool compares) {
    if (mt_unlikely(!mt_unwind_walk_shortly(unwinder, leaf)))
        return capture_by_long_walk(unwinder, leaf);
    if (compares)
        compare(unwinder, *leaf, keep_cached(unwinder));
    return intern_shown(unwinder, leaf);
}

/* Where both are to be compared, a memo is not believed: the walk is to find the same stack. */
MT_COLD static uint32_t capture_and_compare(struct mt_unwinder *unwinder,
                                            const struct mt_frame *leaf) {
    uint32_t recalled = mt_memo_recall(&unwinder->memos, leaf);
    uint32_t walked = capture_by_walk(unwinder, leaf, true);
    if (recalled != MT_STACK_NONE && recalled != walked)
        mt_trace_file_count(MT_COUNT_STACKS_DIFFERENT, 1);
    return walked;
}

/* As options say, not in the common way. */
MT_COLD static uint32_t capture_specially(struct mt_unwinder *unwinder,
                                          const struct mt_frame *leaf) {
    unwinder->memos.asked_in = 0; /* every stack is to come here */
    return mt_unwind_only_libunwind ? capture_with_libunwind(unwinder, *leaf, 0)
                                    : capture_and_compare(unwinder, leaf);
}

/* Forgets the cached stack if its frames may mean something else by now: the images have another
 * generation, and so has the root (mt_stack_table_forget). */
static void refresh_cache(struct mt_unwinder *unwinder) {
    uint64_t generation = __atomic_load_n(&mt_image_map_generation, __ATOMIC_ACQUIRE);
    if (mt_likely(generation == unwinder->generation))
        return;
    unwinder->generation = generation;
    unwinder->root_hash = mt_stack_root_hash(false);
    mt_unwind_forget(unwinder);
    mt_memo_begin_generation(&unwinder->memos, generation);
}

uint32_t mt_unwind_capture_new(struct mt_unwinder *unwinder, const struct mt_frame *leaf) {
    refresh_cache(unwinder);
    if (mt_unlikely(mt_unwind_only_libunwind | mt_unwind_compares))
        return capture_specially(unwinder, leaf);
    mt_memo_note_walk(&unwinder->memos, unwinder->generation);
    return capture_by_walk(unwinder, leaf, false);
}

uint32_t mt_unwind_capture_otherwise(struct mt_unwinder *unwinder, const struct mt_frame *leaf) {
    return capture_with_libunwind(unwinder, *leaf, 0);
}
