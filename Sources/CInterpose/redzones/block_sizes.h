/* Requested sizes of live blocks, found by their addresses.
 *
 * They lie beside the heap, not in it: what a program writes behind its blocks changes none of
 * them. Lock-free, since malloc and free may be called from anywhere. */
#ifndef MT_BLOCK_SIZES_H
#define MT_BLOCK_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses below 2^48 that are multiples of 16, as a tree of two levels above the sizes. */
enum {
    MT_SIZED_ALIGNMENT_BITS = 4,
    MT_SIZED_REGION_BITS = 24, /* of addresses in a region: 4 MiB of sizes, of which used pages
                                  take memory */
    MT_SIZED_LEVEL_BITS = 12
};
#define MT_SIZED_MAX (UINT32_MAX - UINT32_C(2))

struct mt_size_region;
struct mt_size_level;

struct mt_block_sizes {
    struct mt_size_level **levels;
};

/* returns  false when there is no memory for it */
bool mt_block_sizes_begin(struct mt_block_sizes *sizes);

/* Notes the size of a block, which is at most MT_SIZED_MAX.
 *
 * returns  false where that cannot be noted: for its address, or for want of memory */
bool mt_block_size_put(struct mt_block_sizes *sizes, uintptr_t address, size_t size);

/* Whether the size of a block is noted. */
bool mt_block_size_find(const struct mt_block_sizes *sizes, uintptr_t address, size_t *size);

/* The same, and forgets it: of several threads one gets it. */
bool mt_block_size_take(struct mt_block_sizes *sizes, uintptr_t address, size_t *size);

/* Calls visit for all blocks, in ascending order. Blocks may come and go meanwhile; who takes the
 * one that is visited waits until that is over.
 *
 * visit  returns whether the size stays noted */
void mt_block_sizes_visit(struct mt_block_sizes *sizes,
                          bool (*visit)(uintptr_t address, size_t size, void *context),
                          void *context);

#endif
