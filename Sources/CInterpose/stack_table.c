/* Interns stacks. See stack_table.h. */
#include "stack_table.h"

#include "clock.h"
#include "lock.h"
#include "trace_file.h"

enum { FIRST_WINDOW = 16 << 10, LARGEST_WINDOW = 256 << 10, FIRST_CAPACITY = 1 << 14 };

struct slot {
    uint64_t hash; /* 0: free */
    uint64_t id;
};

struct table {
    uint64_t capacity; /* a power of two */
    struct slot slots[];
};

static struct {
    struct mt_lock lock;
    struct table *table; /* the current one; replaced, never freed */
    uint64_t count;      /* occupied slots of the current table */
    uint32_t next_id;
    uint64_t epoch;
    struct mt_chunk_header *chunk;
    struct mt_stack_node *next_node;
    uint32_t left; /* nodes that still fit into the chunk */
} g_stacks = {.next_id = MT_STACK_FIRST};

uint64_t mt_stack_root_hash(bool lacks_root) {
    uint64_t epoch = __atomic_load_n(&g_stacks.epoch, __ATOMIC_RELAXED);
    return mt_stack_hash(epoch * 2 + (lacks_root ? 1 : 0), 0x6d656d7472616365u);
}

uint32_t mt_stack_table_next_id(void) {
    return __atomic_load_n(&g_stacks.next_id, __ATOMIC_RELAXED);
}

static struct slot *probe(struct table *table, uint64_t hash) {
    uint64_t mask = table->capacity - 1;
    for (uint64_t i = hash >> 1;; i++) {
        struct slot *slot = &table->slots[i & mask];
        uint64_t found = __atomic_load_n(&slot->hash, __ATOMIC_ACQUIRE);
        if (found == hash || found == 0)
            return slot;
    }
}

uint32_t mt_stack_table_find(uint64_t hash) {
    struct table *table = __atomic_load_n(&g_stacks.table, __ATOMIC_ACQUIRE);
    if (mt_unlikely(!table))
        return MT_STACK_NONE;
    struct slot *slot = probe(table, hash);
    /* The slot may have been filled since it was probed: read its hash again. */
    if (__atomic_load_n(&slot->hash, __ATOMIC_ACQUIRE) != hash)
        return MT_STACK_NONE;
    return (uint32_t)slot->id;
}

static struct table *make_table(uint64_t capacity) {
    struct table *table = mt_os_map_pages(sizeof(struct table) + capacity * sizeof(struct slot));
    if (table)
        table->capacity = capacity;
    return table;
}

static void insert(struct table *table, uint64_t hash, uint64_t id) {
    struct slot *slot = probe(table, hash);
    slot->id = id;
    __atomic_store_n(&slot->hash, hash, __ATOMIC_RELEASE);
}

/* Keeps at least half of the slots free. */
static bool make_room(void) {
    struct table *old = g_stacks.table;
    if (old && (g_stacks.count + 1) * 2 <= old->capacity)
        return true;
    struct table *table = make_table(old ? old->capacity * 2 : FIRST_CAPACITY);
    if (!table)
        return false;
    for (uint64_t i = 0; old && i < old->capacity; i++)
        if (old->slots[i].hash)
            insert(table, old->slots[i].hash, old->slots[i].id);
    __atomic_store_n(&g_stacks.table, table, __ATOMIC_RELEASE);
    return true;
}

/* Windows grow, so that a short process leaves a short trace. */
static bool open_window(void) {
    uint32_t length = g_stacks.chunk ? g_stacks.chunk->length * 2 : FIRST_WINDOW;
    if (length > LARGEST_WINDOW)
        length = LARGEST_WINDOW;
    struct mt_chunk_header *chunk = mt_trace_file_chunk(MT_CHUNK_STACKS, MT_ENCODING_PLAIN, length,
                                                        mt_clock_event_time(), 0, g_stacks.next_id);
    if (!chunk)
        return false;
    if (g_stacks.chunk)
        mt_trace_file_release(g_stacks.chunk);
    g_stacks.chunk = chunk;
    g_stacks.left = (length - MT_CHUNK_HEADER_SIZE) / sizeof(struct mt_stack_node);
    g_stacks.next_node = (struct mt_stack_node *)(chunk + 1);
    return true;
}

/* Writes one node into the trace; it is complete once its pc is there. */
static bool write_node(uint64_t pc, uint32_t parent) {
    if (g_stacks.left == 0 && !open_window())
        return false;
    struct mt_stack_node *node = g_stacks.next_node++;
    g_stacks.left--;
    node->parent = parent;
    node->flags = pc & MT_STACK_GAP_MARK ? MT_NODE_GAP : 0;
    __atomic_store_n(&node->pc, pc & ~MT_STACK_GAP_MARK, __ATOMIC_RELEASE);
    return true;
}

static uint32_t add_node(uint64_t pc, uint64_t hash, uint32_t parent) {
    if (g_stacks.next_id == UINT32_MAX || !make_room() || !write_node(pc, parent))
        return MT_STACK_NONE;
    uint32_t id = g_stacks.next_id;
    __atomic_store_n(&g_stacks.next_id, id + 1, __ATOMIC_RELAXED);
    insert(g_stacks.table, hash, id);
    g_stacks.count++;
    return id;
}

/* Adds the nodes that are missing, from the outermost unknown frame to the leaf. */
static uint32_t add_missing(const uintptr_t *pcs, const uint64_t *hashes, uint32_t count,
                            bool lacks_root) {
    uint32_t id = lacks_root ? MT_STACK_CUT : MT_STACK_NONE;
    uint32_t missing = 0;
    for (; missing < count; missing++) {
        uint32_t known = mt_stack_table_find(hashes[missing]);
        if (known != MT_STACK_NONE) {
            id = known;
            break;
        }
    }
    while (missing-- > 0) {
        id = add_node(pcs[missing], hashes[missing], id);
        if (id == MT_STACK_NONE)
            return id;
    }
    return id;
}

uint32_t mt_stack_table_intern(const uintptr_t *pcs, const uint64_t *hashes, uint32_t count,
                               bool lacks_root, bool may_wait) {
    uint64_t signals = mt_os_block_signals();
    if (may_wait)
        mt_lock_acquire(&g_stacks.lock);
    else if (!mt_lock_try(&g_stacks.lock)) {
        mt_os_restore_signals(signals);
        return MT_STACK_NONE;
    }
    uint32_t id = add_missing(pcs, hashes, count, lacks_root);
    mt_lock_exit(&g_stacks.lock, signals);
    if (id == MT_STACK_NONE)
        mt_trace_file_count(MT_COUNT_STACK_TABLE_FULL, 1);
    return id;
}

void mt_stack_table_forget(void) {
    __atomic_fetch_add(&g_stacks.epoch, 1, __ATOMIC_RELAXED);
}

void mt_stack_table_survive_fork(void) {
    mt_lock_reset(&g_stacks.lock);
    g_stacks.chunk = NULL;
    g_stacks.left = 0;
}

void mt_stack_table_reset(bool keeps_table) {
    mt_lock_reset(&g_stacks.lock);
    struct table *table = g_stacks.table;
    if (table && !keeps_table)
        mt_os_unmap(table, sizeof(struct table) + table->capacity * sizeof(struct slot));
    g_stacks.table = NULL;
    g_stacks.count = 0;
    g_stacks.next_id = MT_STACK_FIRST;
    g_stacks.chunk = NULL;
    g_stacks.left = 0;
}
