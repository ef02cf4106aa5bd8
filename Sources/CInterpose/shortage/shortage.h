/* A shortage of memory, simulated: allocations fail because somebody has asked for it, so that it
 * shows what the program does then.
 *
 * Only where it was asked for (MEMTRACE_FAIL_AT, MEMTRACE_LIMIT). As with zombies the real
 * functions are replaced by ours; recording sees an allocation that failed. */
#ifndef MT_SHORTAGE_H
#define MT_SHORTAGE_H

#include "base/number_ranges.h"
#include <stdbool.h>

struct mt_shortage_settings {
    struct mt_number_ranges numbers; /* of the process's allocations, from 1: these fail */
    uint64_t limit; /* bytes of live blocks; what would make more of them fails. 0: as many as
                       there can be */
};

/* Lets allocations fail from now on.
 *
 * returns  false where there is a limit, and the allocator does not tell the sizes of its blocks:
 *          then nothing is changed
 * context  once, after mt_real_resolve() and whatever else replaces its functions: what fails is
 *          asked of nobody */
bool mt_shortage_begin(const struct mt_shortage_settings *settings);

/* In a forked child, whose allocations count from 1. */
void mt_shortage_after_fork(void);

/* Whoever has got no block is about to ask again on behalf of the program, as the standard
 * library's operator new does: where the shortage is simulated, the calling thread's next
 * allocation fails as well, and is not counted. */
void mt_shortage_repeat(void);

#endif
