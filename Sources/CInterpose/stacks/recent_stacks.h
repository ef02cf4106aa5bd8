/* The stacks that a thread has met lately, by the hashes of their paths: their IDs without a look
 * into the index of all stacks (stack_index.h), which is seldom in a near cache. */
#ifndef MT_RECENT_STACKS_H
#define MT_RECENT_STACKS_H

#include "base/growing_mask.h"
#include "base/os.h"
#include "memtrace_format.h"
#include <string.h>

enum {
    MT_RECENT_STACK_BITS = 12,
    MT_RECENT_STACKS = 1 << MT_RECENT_STACK_BITS,
    MT_RECENT_STACKS_FIRST = 256, /* places of a thread that has met few: a page */
    MT_RECENT_STACKS_SHARE = 8 /* about as many are displaced once half of the places are taken */
};

struct mt_recent_stack {
    uint64_t hash; /* 0: there is none */
    uint32_t id;
    bool has_no_memo; /* it has too many words for one */
};

/* Zero-initialised is valid. */
struct mt_recent_stacks {
    bool is_used;
    struct mt_growing_mask places;
    struct mt_recent_stack stacks[MT_RECENT_STACKS];
};

/* The place of a stack, which another one may have. */
static inline struct mt_recent_stack *mt_recent_stack_at(struct mt_recent_stacks *recent,
                                                         uint64_t hash) {
    return &recent->stacks[hash >> (64 - MT_RECENT_STACK_BITS) & recent->places.mask];
}

/* That place, for another stack than it has. */
static inline struct mt_recent_stack *mt_recent_stack_make_room(struct mt_recent_stacks *recent,
                                                                uint64_t hash) {
    if (mt_recent_stack_at(recent, hash)->hash != 0)
        mt_mask_note_displaced(&recent->places, MT_RECENT_STACKS_FIRST - 1, MT_RECENT_STACKS - 1,
                               MT_RECENT_STACKS_SHARE);
    return mt_recent_stack_at(recent, hash);
}

/* Notes a stack in its place. Whatever interrupts this, and jumps away, leaves no half of it. */
static inline void mt_recent_stack_note(struct mt_recent_stacks *recent, uint64_t hash,
                                        uint32_t id) {
    struct mt_recent_stack *stack = mt_recent_stack_make_room(recent, hash);
    recent->is_used = true;
    stack->hash = 0;
    __asm__ volatile("" ::: "memory");
    stack->id = id;
    stack->has_no_memo = false;
    __asm__ volatile("" ::: "memory");
    stack->hash = hash;
}

static inline void mt_recent_stacks_forget(struct mt_recent_stacks *recent) {
    if (recent->is_used)
        memset(recent->stacks, 0, (recent->places.mask + 1) * sizeof *recent->stacks);
    recent->is_used = false;
}

#endif
