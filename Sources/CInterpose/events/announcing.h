/* Blocks of the program's own allocators, which it announces (memtrace.h).
 *
 * Events as those of malloc and free, in the same chunks. Their times are always exact where
 * threads are ordered by times: what they lie in is allocated and freed by others. Types are not
 * looked at, since nobody says when the memory of such a block goes. */
#ifndef MT_ANNOUNCING_H
#define MT_ANNOUNCING_H

#include "events/recorder.h"

/* A block was handed out. Not recorded, but counted, where not all allocations are to be. */
void mt_announce_block(const struct mt_call *call, const void *block, size_t size);
/* It is about to be taken back. */
void mt_announce_end(const struct mt_call *call, const void *block);

#endif
