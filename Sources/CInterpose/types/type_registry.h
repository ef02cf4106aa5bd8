/* Which first words are which types, and what has been said about them in the trace.
 *
 * One lock for all of it, only ever tried by those who look: a look that finds it taken is left
 * out, and the next block of the same kind is looked at instead. */
#ifndef MT_TYPE_REGISTRY_H
#define MT_TYPE_REGISTRY_H

#include "types/type_reader.h"

/* A block whose type is asked for, and how it was met. */
struct mt_type_sighting {
    struct mt_type_block block;
    uint32_t stack; /* of the allocation */
    enum mt_type_evidence evidence;
    uint32_t free_stack;
};

enum mt_type_answer { MT_TYPE_BUSY, MT_TYPE_NONE, MT_TYPE_KNOWN };

/* False for a first word that certainly tells no type. context: any, takes no lock */
bool mt_type_registry_may_know(uint64_t word);

/* Finds the type of a block, writes it into the trace at first sight, and with it, once, that
 * blocks of this size from this stack have it.
 *
 * context  signals blocked; never waits */
enum mt_type_answer mt_type_registry_note(const struct mt_type_sighting *sighting);

/* Tells what a Swift object is to `judge`, whose answer goes to *wanted; the trace gets nothing.
 * returns  false, and `judge` is not asked, when the block's first word is no Swift type's
 * context  inside a hook that records; waits for the lock */
bool mt_type_registry_describe(const struct mt_type_block *block,
                               bool (*judge)(const struct mt_type_description *), bool *wanted);

/* Begins to read, and ends to read, a block of MT_TYPE_SLAB_SIZE bytes; the end waits for whoever
 * is reading. returns (begin) false when there are too many. context: any, signals are blocked */
bool mt_type_registry_add_slab(uintptr_t block);
void mt_type_registry_remove_slab(uintptr_t block);

/* In a forked child: its trace knows no types yet. */
void mt_type_registry_reset(void);

#endif
