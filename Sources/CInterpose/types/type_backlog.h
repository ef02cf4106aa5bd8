/* Sightings for which the registry was busy: whoever has it takes them on before it leaves.
 *
 * Where a thread is taken off its processor in the middle of a look, others go on for milliseconds
 * meanwhile. The blocks of a stack may all be gone by then, or such that a later look says nothing
 * (type_sampler.c: a word that was there before), and what they are would never be known. */
#ifndef MT_TYPE_BACKLOG_H
#define MT_TYPE_BACKLOG_H

#include "types/type_reader.h"

/* A block whose type is asked for, and how it was met. */
struct mt_type_sighting {
    struct mt_type_block block;
    uint32_t stack; /* of the allocation */
    enum mt_type_evidence evidence;
    uint32_t free_stack;
};

/* Leaves a sighting.
 *
 * images   mt_image_map_generation when the block was read
 * returns  false where there is another one in its place: most likely of the same stack
 * context  any thread, signals blocked; takes no lock */
bool mt_type_backlog_leave(const struct mt_type_sighting *sighting, uint64_t images);

/* Whether there is anything to take. */
bool mt_type_backlog_has_any(void);

/* Calls `note` for all that was left, but not for what is older than the last unload of an image:
 * its words may mean something else by now.
 * images   mt_image_map_generation
 * context  one thread at a time, signals blocked */
void mt_type_backlog_take(void (*note)(const struct mt_type_sighting *), uint64_t images);

/* In a forked child: forgets what was left. */
void mt_type_backlog_reset(void);

#endif
