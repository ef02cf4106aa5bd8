/* Interns stacks. See stack_table.h. */
#include "stack_table.h"

#include "lock.h"
#include "stack_writer.h"
#include "trace_file.h"

uint64_t mt_stack_epoch;

static struct {
    struct mt_lock lock;
    uint32_t next_id;
} g_stacks = {.next_id = MT_STACK_FIRST};

uint32_t mt_stack_table_next_id(void) {
    return __atomic_load_n(&g_stacks.next_id, __ATOMIC_RELAXED);
}

static uint32_t add_node(uint64_t pc, uint64_t hash, uint32_t parent, uint64_t caller) {
    uint32_t id = g_stacks.next_id;
    struct mt_new_node node = {.pc = pc & ~MT_STACK_GAP_MARK,
                               .caller = caller & ~MT_STACK_GAP_MARK,
                               .id = id,
                               .parent = parent,
                               .flags = pc & MT_STACK_GAP_MARK ? MT_NODE_GAP : 0};
    if (id > MT_STACK_LAST || !mt_stack_index_make_room(id) || !mt_stack_writer_add(&node))
        return MT_STACK_NONE;
    __atomic_store_n(&g_stacks.next_id, id + 1, __ATOMIC_RELAXED);
    mt_stack_index_add(hash, id);
    return id;
}

/* Adds the nodes that are missing, from the outermost unknown frame to the leaf. */
static uint32_t add_missing(const uintptr_t *pcs, const uint64_t *hashes, uint32_t count,
                            bool lacks_root) {
    uint32_t id = lacks_root ? MT_STACK_CUT : MT_STACK_NONE;
    uint32_t missing = 0;
    for (; missing < count; missing++) {
        uint32_t known = mt_stack_index_find(hashes[missing]);
        if (known != MT_STACK_NONE) {
            id = known;
            break;
        }
    }
    while (missing-- > 0) {
        uint64_t caller = missing + 1 < count ? pcs[missing + 1] : 0;
        id = add_node(pcs[missing], hashes[missing], id, caller);
        if (id == MT_STACK_NONE)
            return id;
    }
    return id;
}

uint32_t mt_stack_table_intern(const uintptr_t *pcs, const uint64_t *hashes, uint32_t count,
                               bool lacks_root) {
    uint32_t id = MT_STACK_NONE;
    if (mt_likely(!mt_stack_writer_is_closed())) {
        uint64_t signals = mt_lock_enter(&g_stacks.lock);
        id = add_missing(pcs, hashes, count, lacks_root);
        mt_lock_exit(&g_stacks.lock, signals);
    }
    if (id == MT_STACK_NONE)
        mt_trace_file_count(MT_COUNT_STACK_TABLE_FULL, 1);
    return id;
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
