/* Writes stack nodes into a chunk: MT_ENCODING_PREDICTED of STACKS. */
#ifndef MT_STACK_WRITER_H
#define MT_STACK_WRITER_H

#include "base/os.h"
#include "memtrace_format.h"

/* A node to be written. */
struct mt_new_node {
    uint64_t pc;
    uint64_t caller; /* the pc of its parent; 0 where it has none */
    uint32_t id, parent;
    uint8_t flags; /* enum mt_stack_node_flag */
};

/* Appends a node, in a new chunk where the present one is full. It is complete once its first byte
 * is there.
 *
 * returns  false when recording has stopped
 * context  one thread at a time: under the stack table's lock */
bool mt_stack_writer_add(const struct mt_new_node *node);

/* Fetches what mt_stack_writer_add() will read of a node with this caller. */
void mt_stack_writer_fetch(uint64_t caller);

/* Whether no node will find a place any more. Any thread may ask, without the lock. */
bool mt_stack_writer_is_closed(void);

/* Whether so many nodes fit into the present chunk. */
bool mt_stack_writer_has_room(uint32_t count);

/* Writes the checksum of what will not change any more in the present chunk.
 * context  any thread, also while another adds nodes; as mt_chunk_part_check */
void mt_stack_writer_check(void);

/* The next node begins a new chunk: the present one may end with half of one. */
void mt_stack_writer_abandon(void);

/* In a forked child of a change that will go on: where the window of the parent's trace was, which
 * is not mapped here, it finds memory. Async-signal-safe. */
void mt_stack_writer_survive_fork(void);

/* The present chunk is not there any more: the next node begins a new one. */
void mt_stack_writer_forget(void);

#endif
