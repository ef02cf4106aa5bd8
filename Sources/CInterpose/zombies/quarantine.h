/* Freed blocks that are kept back, in the order of their frees, each to be found by its address.
 *
 * Lock-free, since free may be called from anywhere. When a thread is interrupted between two steps
 * of an addition, its block stays here until the order comes round to its place again. */
#ifndef MT_QUARANTINE_H
#define MT_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_kept_block {
    uintptr_t address; /* a multiple of 8; 0: none */
    size_t size;       /* a multiple of 8, at most MT_KEPT_SIZE_MAX */
};

enum { MT_KEPT_SIZE_BITS = 19, MT_KEPT_SIZE_MAX = ((1 << MT_KEPT_SIZE_BITS) - 1) * 8 };

struct mt_quarantine {
    uint64_t *order;     /* packed blocks; 0: nothing, or not yet */
    uint64_t order_mask; /* its places less one */
    uintptr_t *held;     /* buckets of addresses; 0: a free place */
    uint32_t held_shift; /* of a hash, to the number of its bucket */
    uint64_t next;       /* number of the next addition */
    uint64_t oldest;     /* of the oldest that may still be here */
    uint64_t bytes;
    uint64_t byte_limit;
};

/* Makes one for so many bytes of blocks, and of as many blocks as there are MT_KEPT_BLOCK_SHARE
 * bytes in that.
 *
 * returns  false when there is no memory for it */
enum { MT_KEPT_BLOCK_SHARE = 128 };
bool mt_quarantine_begin(struct mt_quarantine *quarantine, uint64_t byte_limit);

bool mt_quarantine_holds(const struct mt_quarantine *quarantine, uintptr_t address);

/* Takes a block in, or not, where there is no place for its address.
 *
 * surplus  a block that has to leave for it, most often none
 * returns  whether it is in now */
bool mt_quarantine_add(struct mt_quarantine *quarantine, struct mt_kept_block block,
                       struct mt_kept_block *surplus);

/* From now on all blocks are more than there may be. */
void mt_quarantine_shrink(struct mt_quarantine *quarantine);

/* Takes out the oldest block, where there are more than there may be. The caller owns it then.
 *
 * returns  false when nothing has to leave */
bool mt_quarantine_take_surplus(struct mt_quarantine *quarantine, struct mt_kept_block *block);

/* Calls visit for what is here, oldest first. Blocks may come and go meanwhile, but not the one
 * that is visited. */
void mt_quarantine_visit(struct mt_quarantine *quarantine,
                         void (*visit)(struct mt_kept_block block, void *context), void *context);

#endif
