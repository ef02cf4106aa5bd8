/* Zombies: freed blocks that stay where they are for a while, filled with a word that nobody may
 * follow, so that it shows when the program goes on using them.
 *
 * Only where it was asked for (MEMTRACE_ZOMBIES). The real functions are replaced by ours, so that
 * recording knows nothing of it: a free is recorded as always, the block goes back to its allocator
 * later. What is noticed, the trace's ZOMBIE records say. */
#ifndef MT_ZOMBIES_H
#define MT_ZOMBIES_H

#include "base/os.h"
#include "memtrace_format.h"

/* Keeps freed blocks back from now on, up to so many bytes of them.
 *
 * returns  false when the allocator does not tell the sizes of its blocks, or for want of memory:
 *          then nothing is changed
 * context  once, after mt_real_resolve() */
bool mt_zombies_begin(uint64_t bytes);

/* Looks at all blocks that are kept back: at the end of the process, or at a mark. Those that were
 * written to are recorded once. Nothing where no blocks are kept back; async-signal-safe.
 *
 * kind  MT_ZOMBIE_WRITTEN_AT_END or MT_ZOMBIE_WRITTEN_AT_MARK */
void mt_zombies_check(enum mt_zombie_kind kind);

/* Gives all of them back, and keeps back no more. */
void mt_zombies_rest(void);

/* A signal is about to end the process: where a register holds the word that a freed block is
 * filled with, the block was read from and what was read was followed.
 *
 * context  third argument of a signal handler, in which this is called */
void mt_zombies_note_signal(int signal, const void *context);

#endif
