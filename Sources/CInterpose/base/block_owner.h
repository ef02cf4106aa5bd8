/* Which thread had the last event of a block.
 *
 * Between threads, order is told by the times of events, and an exact time is dear: it waits for
 * all that the processor has begun (clock.h). But order has to be told only where a block changes
 * hands. An event of a block whose last event was of the same thread comes after that one in any
 * case, since both are in the chunks of that thread.
 *
 * The table has a word for each block: its address and who it was. Blocks share words, the last one
 * has it: an event that does not find itself there gets an exact time. So an answer of true is
 * proof: any event of another thread since then would have left its mark, before the block could
 * come back. Neighbours in memory are neighbours in the table, so that threads which do not share
 * memory do not share its lines.
 *
 * Only written to while several threads record. */
#ifndef MT_BLOCK_OWNER_H
#define MT_BLOCK_OWNER_H

#include "base/os.h"

enum { MT_OWNER_BITS = 16, MT_OWNER_SHIFT = 47 };
extern MT_INTERNAL uintptr_t mt_block_owners[1 << MT_OWNER_BITS];

/* Nobody's: no event of this one is ever of a block that it had before. */
#define MT_OWNER_NONE 0u
#define MT_OWNER_LAST ((1u << (64 - MT_OWNER_SHIFT)) - 1)

/* Heaps of threads lie 64 MiB apart. */
static inline uintptr_t *mt_block_owner_place(uintptr_t block) {
    uintptr_t place = (block >> 4) + (block >> 26) * 2731;
    return &mt_block_owners[place & ((1u << MT_OWNER_BITS) - 1)];
}

/* Notes an event of the block by `owner`, before the block can change hands.
 * owner    MT_OWNER_NONE ... MT_OWNER_LAST: tells who writes the chunk
 * returns  true when the block's last event was by the same, and one whose events stay in order */
static inline bool mt_block_owner_take(uintptr_t block, uint32_t owner) {
    uintptr_t *place = mt_block_owner_place(block);
    uintptr_t mark = block | (uintptr_t)owner << MT_OWNER_SHIFT;
    if (mt_likely(__atomic_load_n(place, __ATOMIC_RELAXED) == mark))
        return owner != MT_OWNER_NONE && block >> MT_OWNER_SHIFT == 0;
    __atomic_store_n(place, mark, __ATOMIC_RELAXED);
    return false;
}

/* Every block's next event gets an exact time: after something else that has one, or in a forked
 * child, whose threads are others. */
void mt_block_owner_forget(void);

/* The next event of the block, and of those that share its word, gets an exact time. */
static inline void mt_block_owner_forget_block(uintptr_t block) {
    __atomic_store_n(mt_block_owner_place(block), 0, __ATOMIC_RELAXED);
}

#endif
