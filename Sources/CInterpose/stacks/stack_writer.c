/* Writes stack nodes. See stack_writer.h. */
#include "stacks/stack_writer.h"

#include "base/clock.h"
#include "memtrace_stack_nodes.h"
#include "trace/chunk_checksum.h"
#include "trace/trace_file.h"
#include "trace/varint.h"
#include <string.h>

enum { FIRST_WINDOW = 16 << 10, LARGEST_WINDOW = 128 << 10 };

static struct {
    struct mt_chunk_header *chunk;
    struct mt_open_chunk open; /* the same, for other threads */
    uint32_t first_id;
    uint8_t *cursor, *limit; /* beyond limit a node might not fit */
    uint8_t *run;            /* the tag at the end that counts nodes; NULL: there is none */
    struct mt_node_predictor predictor;
} g_writer;
MT_IDLE_AT_START(g_writer);

/* Windows grow, so that a short process leaves a short trace. */
static bool open_window(uint32_t first_id) {
    uint32_t length = g_writer.chunk ? g_writer.chunk->length * 2 : FIRST_WINDOW;
    if (length > LARGEST_WINDOW)
        length = LARGEST_WINDOW;
    struct mt_chunk_header *chunk = mt_trace_file_chunk(MT_CHUNK_STACKS, MT_ENCODING_PREDICTED,
                                                        length, mt_clock_event_time(), 0, first_id);
    if (!chunk)
        return false;
    struct mt_chunk_header *full = g_writer.chunk;
    mt_open_chunk_leave(&g_writer.open);
    g_writer.chunk = chunk;
    g_writer.first_id = first_id;
    g_writer.cursor = (uint8_t *)(chunk + 1);
    g_writer.run = NULL;
    g_writer.limit = (uint8_t *)chunk + length - MT_NODE_MAX_LENGTH;
    memset(&g_writer.predictor, 0, sizeof g_writer.predictor);
    mt_open_chunk_enter(&g_writer.open, chunk);
    mt_chunk_finish(full);
    return true;
}

static uint8_t *put_parent(uint8_t *at, const struct mt_new_node *node, uint8_t *tag) {
    uint32_t distance = node->id - node->parent;
    if (node->parent == MT_STACK_NONE)
        *tag |= MT_PARENT_NONE << MT_NODE_PARENT_SHIFT;
    else if (node->parent == MT_STACK_CUT)
        *tag |= MT_PARENT_CUT << MT_NODE_PARENT_SHIFT;
    else if (distance != 1 || node->id == g_writer.first_id) {
        *tag |= MT_PARENT_DISTANCE << MT_NODE_PARENT_SHIFT;
        return mt_put_varint(at, distance);
    }
    return at;
}

static uint8_t *put_pc(uint8_t *at, uint64_t pc, uint64_t caller, uint8_t *tag) {
    const struct mt_node_predictor *predictor = &g_writer.predictor;
    uint32_t age = 0, index = mt_recent_pc_index(pc);
    while (age < MT_STEPS && mt_expected_pc(predictor, caller, age) != pc)
        age++;
    if (age < 2) {
        *tag |= (uint8_t)((age ? MT_PC_SECOND : MT_PC_LAST) << MT_NODE_PC_SHIFT);
    } else if (age < MT_STEPS) {
        *tag |= MT_PC_KNOWN << MT_NODE_PC_SHIFT;
        *at++ = (uint8_t)(age - 2);
    } else if (mt_recent_pc(predictor, index) == pc) {
        *tag |= MT_PC_KNOWN << MT_NODE_PC_SHIFT;
        *at++ = (uint8_t)(MT_PC_RECENT + (index >> 8));
        *at++ = (uint8_t)index;
    } else {
        *tag |= MT_PC_DISTANCE << MT_NODE_PC_SHIFT;
        at = mt_put_varint(at, mt_zigzag((int64_t)(pc - caller)));
    }
    return at;
}

/* Nodes of which nothing needs to be said are counted in the tag of the first. */
static void put_tag(uint8_t tag, uint8_t *end) {
    if (tag != MT_NODE_TAG) {
        __atomic_store_n(g_writer.cursor, tag, __ATOMIC_RELEASE);
        __atomic_store_n(&g_writer.run, NULL, __ATOMIC_RELAXED);
    } else if (g_writer.run && *g_writer.run < MT_NODE_RUN + MT_NODE_RUN_MAX) {
        __atomic_store_n(g_writer.run, (uint8_t)(*g_writer.run + 1), __ATOMIC_RELEASE);
        return;
    } else {
        __atomic_store_n(g_writer.cursor, (uint8_t)(MT_NODE_RUN + 1), __ATOMIC_RELEASE);
        __atomic_store_n(&g_writer.run, g_writer.cursor, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&g_writer.cursor, end, __ATOMIC_RELEASE);
}

bool mt_stack_writer_add(const struct mt_new_node *node) {
    if (g_writer.cursor >= g_writer.limit && !open_window(node->id))
        return false;
    uint8_t tag = MT_NODE_TAG, *at = put_parent(g_writer.cursor + 1, node, &tag);
    uint64_t caller = node->parent >= g_writer.first_id ? node->caller : 0;
    at = put_pc(at, node->pc, caller, &tag);
    if (node->flags) {
        tag |= MT_NODE_HAS_FLAGS;
        *at++ = node->flags;
    }
    mt_learn_pc(&g_writer.predictor, caller, node->pc);
    put_tag(tag, at);
    return true;
}

void mt_stack_writer_fetch(uint64_t caller) {
    __builtin_prefetch(g_writer.predictor.steps[mt_pc_hash(caller, MT_STEP_BITS)], 1);
}

bool mt_stack_writer_is_closed(void) {
    return mt_trace_file_has_stopped() && g_writer.cursor >= g_writer.limit;
}

bool mt_stack_writer_has_room(uint32_t count) {
    return g_writer.cursor < g_writer.limit &&
           (size_t)(g_writer.limit - g_writer.cursor) / MT_NODE_MAX_LENGTH >= count;
}

/* A tag that counts nodes goes on counting. One that was the last when the cursor was read does so
 * no longer than it is noted as that. */
void mt_stack_writer_check(void) {
    struct mt_chunk_part part = mt_open_chunk_part(&g_writer.open, &g_writer.cursor);
    uintptr_t run = (uintptr_t)__atomic_load_n(&g_writer.run, __ATOMIC_RELAXED);
    uintptr_t start =
        (uintptr_t)__atomic_load_n(&g_writer.open.chunk, __ATOMIC_RELAXED) + MT_CHUNK_HEADER_SIZE;
    if (run >= start && run - start < part.length)
        part.length = run - start;
    mt_chunk_part_check(part);
}

void mt_stack_writer_abandon(void) {
    g_writer.limit = NULL;
}

void mt_stack_writer_survive_fork(void) {
    mt_open_chunk_leave(&g_writer.open);
    if (g_writer.chunk && g_writer.limit)
        mt_os_map_pages_at(g_writer.chunk, (size_t)(g_writer.limit + MT_NODE_MAX_LENGTH -
                                                    (uint8_t *)g_writer.chunk));
}

void mt_stack_writer_forget(void) {
    g_writer.chunk = NULL;
    mt_open_chunk_leave(&g_writer.open);
    g_writer.cursor = g_writer.limit = g_writer.run = NULL;
}
