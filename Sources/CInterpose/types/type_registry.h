/* Which first words are which types, and what has been said about them in the trace.
 *
 * One lock for all of it, only ever tried by those who look: what they have seen while it is taken
 * they leave to whoever has it (type_backlog.h). */
#ifndef MT_TYPE_REGISTRY_H
#define MT_TYPE_REGISTRY_H

#include "types/type_backlog.h"

/* MT_TYPE_BUSY: it is found out later, if at all. */
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

/* Writes the instances of generic types (type_survey.h) of which no block was looked at: what is
 * live in a snapshot is named by its first word.
 *
 * context  any; nothing is written while somebody has the lock */
void mt_type_registry_survey(void);

/* Begins to read, and ends to read, a block of MT_TYPE_SLAB_SIZE bytes; the end waits for whoever
 * is reading. returns (begin) false when there are too many. context: any, signals are blocked */
bool mt_type_registry_add_slab(uintptr_t block);
void mt_type_registry_remove_slab(uintptr_t block);

/* In a forked child: its trace knows no types yet. */
void mt_type_registry_reset(void);

#endif
