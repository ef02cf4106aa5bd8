/* Recording that can be paused: --paused, MEMTRACE_PAUSED, `memtrace pause` and `memtrace resume`.
 *
 * Whether it is paused stands in the header of the trace, which both the process and `memtrace`
 * have mapped: to switch, one word is stored, and nobody is stopped or sent a signal. Ends of
 * blocks are recorded always, where their allocation was. So what is known of a block is the whole
 * of it; the blocks that were allocated while it was paused are not known at all.
 *
 * A thread looks at the word with the allocations that it records, and while it is paused about
 * once a KiB that it allocates (sampling.c). So for a program that is paused a call costs as much
 * as one that is not in a sample, and threads other than the one that resumes may miss so much. */
#ifndef MT_PAUSING_H
#define MT_PAUSING_H

#include "base/os.h"

/* Whether recording can be paused. Set once, at start-up. */
extern MT_INTERNAL bool mt_pausing_is_possible;

/* can_pause  whether recording begins paused; else it can never be */
void mt_pausing_init(bool can_pause);

/* In a forked child that has no trace of its own yet: a descriptor of its parent's, for
 * mt_pausing_after_fork. -1: none, or recording cannot be paused. */
int mt_pausing_open_parent(void);

/* In a forked child with a trace of its own: goes on as the parent was when it last looked, or is
 * paused, where the parent's has been since. Closes the descriptor. Who pauses the parent pauses
 * the children next whose traces say that they are not: between the two of them, none goes on. */
void mt_pausing_after_fork(int parent);

/* Whether allocations are not recorded at present, where they can be paused. Any thread, any hook;
 * async-signal-safe. Not in a forked child before its recording has begun: *mt_generation is 0
 * there. */
bool mt_pausing_is_paused(void);

/* Whether that has been so all the time: there is nothing that a heap snapshot could tell of. */
bool mt_pausing_rests_always(void);

/* Pauses where whoever resumed it was to pause it, and has been killed. Now and then: it costs a
 * system call.
 * context  a hook; errno untouched */
void mt_pausing_look_for_holder(void);

/* Pauses or resumes, and says so in the trace. Nothing where recording cannot be paused. It counts
 * for a thread when that looks again: mt_sampling_look_again().
 * context  a thread of the host, not a signal handler; errno may change */
void mt_pausing_set(bool is_paused);

#endif
