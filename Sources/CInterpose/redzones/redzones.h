/* Redzones: some bytes behind each block that nobody may write to.
 *
 * Only where it was asked for (MEMTRACE_REDZONES). As with zombies, the real functions are replaced
 * by ours, so that recording knows nothing of it. What is noticed, the trace's OVERRUN records
 * say. */
#ifndef MT_REDZONES_H
#define MT_REDZONES_H

#include "base/os.h"
#include "memtrace_format.h"

/* Puts so many bytes behind each block from now on.
 *
 * returns  false for want of memory: then nothing is changed
 * context  once, after mt_real_resolve(), and after mt_zombies_begin() where both are wanted: a
 *          block is looked at before it is kept back */
bool mt_redzones_begin(uint64_t bytes);

/* In a forked child: what was written before the fork is its parent's to tell. */
void mt_redzones_after_fork(void);

/* Looks behind all live blocks: at the end of the process, or at a mark. Those that were written
 * past are recorded, and not looked at again. Nothing where there are no redzones;
 * async-signal-safe. */
void mt_redzones_check(enum mt_overrun_kind kind);

#endif
