/* Chooses the blocks whose types are looked at, and when.
 *
 * Blocks from one stack nearly always have one type, so a few looks per stack are enough, and the
 * reader of the trace concludes the rest. A block that was chosen is looked at when its thread has
 * made a few more allocations, by when constructors have run, or when it is freed, whichever comes
 * first. The events themselves say nothing about types.
 *
 * A block can be freed by any thread at the moment it is looked at: it is claimed first, in a table
 * that every deallocation looks into. Whoever frees a block that is being read waits for the reader
 * (a few instructions; not for ever, should the reader not be running). */
#ifndef MT_TYPE_SAMPLER_H
#define MT_TYPE_SAMPLER_H

#include "base/os.h"
#include "types/type_slabs.h"

enum { MT_TYPE_QUEUE = 96, MT_TYPE_PENDING = 1024, MT_TYPE_STACKS_MASK = (1 << 20) - 1 };

/* Of a stack: how many looks have been enough. */
enum { MT_TYPE_LOOKS = 2 };

/* The blocks that a thread has chosen, in its struct mt_thread. Zero-initialised is valid. */
struct mt_type_queue {
    uint32_t clock;   /* counts the thread's allocations */
    uint32_t due;     /* when there is something to do, in these */
    uint32_t revisit; /* when to look at a block of a stack that has been looked at enough */
    uint32_t count;
    struct mt_type_chosen {
        uintptr_t block;
        uint32_t serial; /* tells the block from a later one at its address */
        uint32_t due;
    } chosen[MT_TYPE_QUEUE];
};

/* Chosen blocks and slabs by address, two places for each; bit 0: being read. */
extern MT_INTERNAL uintptr_t mt_type_pending[MT_TYPE_PENDING];
/* Looks so far, by stack ID: two bits each. Points to one byte that says enough while types are
 * off.
 */
extern MT_INTERNAL uint8_t *mt_type_looks;
extern MT_INTERNAL uint32_t mt_type_looks_mask; /* of bytes */

static inline uint8_t *mt_type_looks_byte(uint32_t stack) {
    return &mt_type_looks[stack >> 2 & mt_type_looks_mask];
}

static inline uint32_t mt_type_looks_at(uint32_t stack) {
    return *mt_type_looks_byte(stack) >> (stack & 3) * 2 & 3u;
}

/* Turns looking on. Called once, before the first event. False when there is no memory. */
bool mt_type_sampler_begin(void);

/* In a forked child: forgets what the parent had chosen and found. */
void mt_type_sampler_reset(void);

static inline uint32_t mt_type_place(uintptr_t block) {
    return (uint32_t)((block >> 4) * 0x9e3779b1u) / (UINT32_MAX / MT_TYPE_PENDING + 1u);
}

/* Looks at all blocks that were chosen, whether they are due or not, and for types that no block
 * was seen to have: for a snapshot, after which they may never be. Other threads may run.
 *
 * context  a signal handler, too: what it may have interrupted is left out, and nobody is waited
 *          for but who writes a record, with signals held back */
void mt_type_settle_all(void);

void mt_type_choose(struct mt_type_queue *queue, const void *block, size_t size, uint32_t stack);
void mt_type_release(const void *block, uint32_t stack);

/* A block was allocated by the calling thread, whose hook has not returned yet. */
static inline void mt_type_note_allocation(struct mt_type_queue *queue, const void *block,
                                           size_t size, uint32_t stack) {
    uint32_t now = ++queue->clock;
    bool is_unknown = mt_type_looks_at(stack) < MT_TYPE_LOOKS;
    if (mt_unlikely(is_unknown | ((int32_t)(now - queue->due) >= 0) | (size == MT_TYPE_SLAB_SIZE)))
        mt_type_choose(queue, block, size, stack);
}

/* A block is about to be freed, or moved by realloc, with this stack. */
static inline void mt_type_note_deallocation(const void *block, uint32_t stack) {
    const uintptr_t *place = &mt_type_pending[mt_type_place((uintptr_t)block)];
    const uintptr_t *other = &mt_type_pending[mt_type_place((uintptr_t)block) ^ 1];
    if (mt_unlikely(((*place ^ (uintptr_t)block) <= 1) | ((*other ^ (uintptr_t)block) <= 1)))
        mt_type_release(block, stack);
}

#endif
