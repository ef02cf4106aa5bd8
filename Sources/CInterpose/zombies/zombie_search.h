/* Which freed block a fault comes from: what the interrupted code holds tells. */
#ifndef MT_ZOMBIE_SEARCH_H
#define MT_ZOMBIE_SEARCH_H

#include "zombies/quarantine.h"

/* How far from the word of a block code may have gone before it followed it: to an item of an
 * array, a field, an entry of what it took for a table of functions. Code without optimisation does
 * that in a register, where the word itself is not any more. */
enum { MT_ZOMBIE_REACH = 4096, MT_ZOMBIE_REACH_BACK = 256 };

/* Words that the interrupted code holds. */
struct mt_held_words {
    const uint64_t *registers, *stack;
    uint32_t register_count, stack_count;
};

/* The block whose word is in a register; else one whose word lies in reach of what is in one: a
 * block that something held points to, else the nearest.
 *
 * returns  its address; 0: none
 * context  a signal handler; takes no lock */
uintptr_t mt_zombie_find(const struct mt_quarantine *quarantine, const struct mt_held_words *held);

#endif
