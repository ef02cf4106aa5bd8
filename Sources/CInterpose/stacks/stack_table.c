/* Interns stacks. See stack_table.h. */
#include "stacks/stack_table.h"

#include "stacks/stack_guard.h"
#include "stacks/stack_writer.h"
#include "trace/trace_file.h"

enum { LIKELY_MISSING = 8 };

uint64_t mt_stack_epoch;

static struct {
    uint32_t next_id;
    uint32_t resets;
    bool must_reset; /* in a forked child, before the next change: the fork interrupted one */
} g_stacks = {.next_id = MT_STACK_FIRST};

uint32_t mt_stack_table_next_id(void) {
    return g_stacks.must_reset ? MT_STACK_FIRST
                               : __atomic_load_n(&g_stacks.next_id, __ATOMIC_RELAXED);
}

struct mt_stack_version mt_stack_table_version(void) {
    return (struct mt_stack_version){__atomic_load_n(&g_stacks.resets, __ATOMIC_RELAXED),
                                     mt_stack_table_next_id()};
}

/* ---- Changes ---- */

/* So many nodes are written without a system call. */
static bool has_room(uint32_t count) {
    return !g_stacks.must_reset && mt_stack_writer_has_room(count) &&
           mt_stack_index_has_room(g_stacks.next_id + count);
}

static void reset(bool keeps_table) {
    mt_stack_index_reset(keeps_table);
    g_stacks.next_id = MT_STACK_FIRST;
    mt_stack_writer_forget();
    g_stacks.must_reset = false;
}

/* Begins a change that adds so many nodes at most to what was found in a version of the table. */
static bool enter(struct mt_stack_guard *guard, uint32_t count, struct mt_stack_version version) {
    if (mt_unlikely(mt_stack_writer_is_closed()) || !mt_stack_guard_enter(guard, has_room(count)))
        return false;
    if (mt_unlikely(g_stacks.must_reset))
        reset(true);
    if (mt_likely(version.resets == g_stacks.resets))
        return true;
    mt_stack_guard_exit(guard);
    return false;
}

static uint32_t flags_of(uint64_t pc) {
    if (pc & MT_STACK_GAP_MARK)
        return MT_NODE_GAP;
    return pc & MT_STACK_EXACT_MARK ? MT_NODE_EXACT_PC : 0;
}

static uint32_t add_node(uint64_t pc, uint32_t parent, uint64_t caller) {
    uint32_t id = g_stacks.next_id;
    struct mt_new_node node = {.pc = mt_stack_unmarked(pc),
                               .caller = mt_stack_unmarked(caller),
                               .id = id,
                               .parent = parent,
                               .flags = flags_of(pc)};
    if (id > MT_STACK_LAST || !mt_stack_index_make_room(id) || !mt_stack_writer_add(&node))
        return MT_STACK_NONE;
    __atomic_store_n(&g_stacks.next_id, id + 1, __ATOMIC_RELAXED);
    return id;
}

/* Of a new path, more than the leaf is new: their places are fetched together. */
static void prefetch_callers(const struct mt_stack_path *path) {
    for (uint32_t i = 1; i < path->count && i <= LIKELY_MISSING; i++)
        mt_stack_index_prefetch(path->hashes[i]);
}

struct mt_stack_known mt_stack_table_find(const struct mt_stack_path *path) {
    struct mt_stack_known known = {.version = mt_stack_table_version()};
    for (; known.missing < path->count; known.missing++) {
        known.id = mt_stack_index_find(path->hashes[known.missing]);
        if (known.id != MT_STACK_NONE)
            break;
        if (known.missing == 0)
            prefetch_callers(path);
    }
    return known;
}

/* Its frames are written one after the other, but what is read for them can come together. */
static void fetch_frames(const struct mt_stack_branch *branch) {
    for (uint32_t i = 1; i < branch->count && i <= LIKELY_MISSING; i++)
        mt_stack_writer_fetch(mt_stack_unmarked(branch->pcs[i]));
}

/* Adds the frames of a branch, from the outermost to the leaf. The index gets the path of the leaf;
 * with hashes, those of all frames. */
static uint32_t add_frames(const struct mt_stack_branch *branch, const uint64_t *hashes) {
    uint32_t id = branch->caller;
    uint64_t caller = branch->caller_pc;
    fetch_frames(branch);
    for (uint32_t i = branch->count; i-- > 0; caller = branch->pcs[i]) {
        id = add_node(branch->pcs[i], id, caller);
        if (id == MT_STACK_NONE)
            return id;
        if (hashes)
            mt_stack_index_add(hashes[i], id);
    }
    if (!hashes)
        mt_stack_index_add(branch->hash, id);
    return id;
}

static uint32_t add_missing(const struct mt_stack_path *path, struct mt_stack_known known) {
    bool is_cut = known.id == MT_STACK_NONE && path->lacks_root;
    struct mt_stack_branch branch = {.caller = is_cut ? MT_STACK_CUT : known.id,
                                     .caller_pc =
                                         known.missing < path->count ? path->pcs[known.missing] : 0,
                                     .pcs = path->pcs,
                                     .count = known.missing};
    return add_frames(&branch, path->hashes);
}

uint32_t mt_stack_table_add(const struct mt_stack_path *path, struct mt_stack_known known) {
    uint32_t id = MT_STACK_NONE;
    struct mt_stack_guard guard;
    if (enter(&guard, known.missing, known.version)) {
        if (mt_unlikely(known.version.next_id != g_stacks.next_id))
            known = mt_stack_table_find(path);
        id = add_missing(path, known);
        mt_stack_guard_exit(&guard);
    }
    if (id == MT_STACK_NONE)
        mt_trace_file_count(MT_COUNT_STACK_TABLE_FULL, 1);
    return id;
}

struct mt_stack_made mt_stack_table_add_branch(const struct mt_stack_branch *branch) {
    struct mt_stack_made made = {MT_STACK_NONE, 0};
    struct mt_stack_guard guard;
    if (enter(&guard, branch->count, branch->version)) {
        if (mt_unlikely(branch->version.next_id != g_stacks.next_id))
            made.id = mt_stack_index_find(branch->hash);
        if (mt_likely(made.id == MT_STACK_NONE))
            made = (struct mt_stack_made){add_frames(branch, NULL), branch->count};
        mt_stack_guard_exit(&guard);
    }
    if (mt_unlikely(made.id == MT_STACK_NONE))
        mt_trace_file_count(MT_COUNT_STACK_TABLE_FULL, 1);
    return made;
}

void mt_stack_table_forget(void) {
    __atomic_fetch_add(&mt_stack_epoch, 1, __ATOMIC_RELAXED);
}

void mt_stack_table_repair(void) {
    if (!mt_stack_guard_is_interrupted())
        return;
    g_stacks.next_id++; /* there may be a node of this ID */
    mt_stack_writer_abandon();
    mt_stack_guard_repair();
}

void mt_stack_table_survive_fork(void) {
    if (mt_stack_guard_is_interrupted()) {
        mt_stack_writer_survive_fork();
    } else {
        mt_stack_guard_reset();
        mt_stack_writer_forget();
    }
}

void mt_stack_table_reset(bool keeps_table) {
    g_stacks.resets++;
    if (mt_stack_guard_is_interrupted()) {
        mt_stack_writer_survive_fork();
        mt_stack_table_forget();
        g_stacks.must_reset = true;
    } else {
        mt_stack_guard_reset();
        reset(keeps_table);
    }
}
