/* Writes stack nodes. See stack_writer.h. */
#include "stack_writer.h"

#include "clock.h"
#include "memtrace_stack_nodes.h"
#include "trace_file.h"
#include "varint.h"
#include <string.h>

enum { FIRST_WINDOW = 16 << 10, LARGEST_WINDOW = 256 << 10 };

static struct {
    struct mt_chunk_header *chunk;
    uint32_t first_id;
    uint8_t *cursor, *limit; /* beyond limit a node might not fit */
    struct mt_node_predictor predictor;
} g_writer;

/* Windows grow, so that a short process leaves a short trace. */
static bool open_window(uint32_t first_id) {
    uint32_t length = g_writer.chunk ? g_writer.chunk->length * 2 : FIRST_WINDOW;
    if (length > LARGEST_WINDOW)
        length = LARGEST_WINDOW;
    struct mt_chunk_header *chunk = mt_trace_file_chunk(MT_CHUNK_STACKS, MT_ENCODING_PREDICTED,
                                                        length, mt_clock_event_time(), 0, first_id);
    if (!chunk)
        return false;
    if (g_writer.chunk)
        mt_trace_file_release(g_writer.chunk);
    g_writer.chunk = chunk;
    g_writer.first_id = first_id;
    g_writer.cursor = (uint8_t *)(chunk + 1);
    g_writer.limit = (uint8_t *)chunk + length - MT_NODE_MAX_LENGTH;
    memset(&g_writer.predictor, 0, sizeof g_writer.predictor);
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
    if (mt_expected_pc(&g_writer.predictor, caller) == pc)
        return at;
    uint32_t index = mt_recent_pc_index(pc);
    if (mt_recent_pc(&g_writer.predictor, index) == pc) {
        *tag |= MT_PC_RECENT << MT_NODE_PC_SHIFT;
        *at++ = (uint8_t)index;
        *at++ = (uint8_t)(index >> 8);
        return at;
    }
    *tag |= MT_PC_DISTANCE << MT_NODE_PC_SHIFT;
    return mt_put_varint(at, mt_zigzag((int64_t)(pc - caller)));
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
    __atomic_store_n(g_writer.cursor, tag, __ATOMIC_RELEASE);
    g_writer.cursor = at;
    return true;
}

void mt_stack_writer_forget(void) {
    g_writer.chunk = NULL;
    g_writer.cursor = g_writer.limit = NULL;
}
