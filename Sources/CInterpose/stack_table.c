/* Interns stacks. See stack_table.h. */
#include "stack_table.h"

#include "lock.h"
#include "stack_writer.h"
#include "trace_file.h"

enum { LIKELY_MISSING = 8 };

uint64_t mt_stack_epoch;

static struct {
    struct mt_lock lock;
    uint32_t next_id;
} g_stacks = {.next_id = MT_STACK_FIRST};

uint32_t mt_stack_table_next_id(void) {
    return __atomic_load_n(&g_stacks.next_id, __ATOMIC_RELAXED);
}

static uint32_t add_node(uint64_t pc, uint32_t parent, uint64_t caller) {
    uint32_t id = g_stacks.next_id;
    struct mt_new_node node = {.pc = pc & ~MT_STACK_GAP_MARK,
                               .caller = caller & ~MT_STACK_GAP_MARK,
                               .id = id,
                               .parent = parent,
                               .flags = pc & MT_STACK_GAP_MARK ? MT_NODE_GAP : 0};
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
    struct mt_stack_known known = {.next_id = mt_stack_table_next_id()};
    for (; known.missing < path->count; known.missing++) {
        known.id = mt_stack_index_find(path->hashes[known.missing]);
        if (known.id != MT_STACK_NONE)
            break;
        if (known.missing == 0)
            prefetch_callers(path);
    }
    return known;
}

/* Adds the nodes that are missing, from the outermost unknown frame to the leaf. */
static uint32_t add_missing(const struct mt_stack_path *path, struct mt_stack_known known) {
    uint32_t id = known.id;
    if (id == MT_STACK_NONE && path->lacks_root)
        id = MT_STACK_CUT;
    for (uint32_t i = known.missing; i-- > 0;) {
        uint64_t caller = i + 1 < path->count ? path->pcs[i + 1] : 0;
        id = add_node(path->pcs[i], id, caller);
        if (id == MT_STACK_NONE)
            break;
        mt_stack_index_add(path->hashes[i], id);
    }
    return id;
}

uint32_t mt_stack_table_add(const struct mt_stack_path *path, struct mt_stack_known known) {
    uint32_t id = MT_STACK_NONE;
    if (mt_likely(!mt_stack_writer_is_closed())) {
        uint64_t signals = mt_lock_enter(&g_stacks.lock);
        if (mt_unlikely(known.next_id != g_stacks.next_id))
            known = mt_stack_table_find(path);
        id = add_missing(path, known);
        mt_lock_exit(&g_stacks.lock, signals);
    }
    if (id == MT_STACK_NONE)
        mt_trace_file_count(MT_COUNT_STACK_TABLE_FULL, 1);
    return id;
}

static uint32_t add_frames(const struct mt_stack_branch *branch) {
    uint32_t id = branch->caller;
    uint64_t caller = branch->caller_pc;
    for (uint32_t i = branch->count; i-- > 0; caller = branch->pcs[i]) {
        id = add_node(branch->pcs[i], id, caller);
        if (id == MT_STACK_NONE)
            return id;
    }
    mt_stack_index_add(branch->hash, id);
    return id;
}

struct mt_stack_made mt_stack_table_add_branch(const struct mt_stack_branch *branch) {
    struct mt_stack_made made = {MT_STACK_NONE, 0};
    if (mt_likely(!mt_stack_writer_is_closed())) {
        uint64_t signals = mt_lock_enter(&g_stacks.lock);
        if (mt_unlikely(branch->next_id != g_stacks.next_id))
            made.id = mt_stack_index_find(branch->hash);
        if (mt_likely(made.id == MT_STACK_NONE))
            made = (struct mt_stack_made){add_frames(branch), branch->count};
        mt_lock_exit(&g_stacks.lock, signals);
    }
    if (made.id == MT_STACK_NONE)
        mt_trace_file_count(MT_COUNT_STACK_TABLE_FULL, 1);
    return made;
}

void mt_stack_table_forget(void) {
    __atomic_fetch_add(&mt_stack_epoch, 1, __ATOMIC_RELAXED);
}

void mt_stack_table_survive_fork(void) {
    mt_lock_reset(&g_stacks.lock);
    mt_stack_writer_forget();
}

void mt_stack_table_reset(bool keeps_table) {
    mt_lock_reset(&g_stacks.lock);
    mt_stack_index_reset(keeps_table);
    g_stacks.next_id = MT_STACK_FIRST;
    mt_stack_writer_forget();
}
