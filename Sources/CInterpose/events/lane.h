/* The shared lane: a chunk of its own for events that no thread's chunk can take.
 *
 * Events inside a hook (a signal handler that interrupted it, an allocator or unwinder that
 * allocates) and after a thread's last destructor. */
#ifndef MT_LANE_H
#define MT_LANE_H

#include "base/tls.h"
#include "trace/event_writer.h"
#include "unwind/unwinder.h"

struct mt_lane {
    struct mt_entered holder;   /* the call that holds it; sp 0: it is free */
    struct mt_unwinder *thread; /* of that call; NULL: not known */
    struct mt_event_writer writer;
};

/* Takes the lane for a call at stack pointer sp. A holder that never gave it back, since a signal
 * handler jumped past it, loses it to a later call of its thread.
 *
 * unwinder  of the calling thread, or NULL
 * returns   false when it is held
 * context   async-signal-safe: never waits */
bool mt_lane_take(struct mt_lane *lane, uintptr_t sp, struct mt_unwinder *unwinder);
void mt_lane_give_back(struct mt_lane *lane);

/* The thread of `unwinder` ends: if it holds the process's lane, that is free again. With all
 * signals held back. */
void mt_lane_leave(const struct mt_unwinder *unwinder);

/* Takes the process's lane and readies it for an event of `thread` at `time`.
 * returns  the writer, to be given back with mt_lane_release; NULL when it is taken or recording
 *          has stopped
 * context  as mt_lane_take */
struct mt_event_writer *mt_lane_acquire(uintptr_t sp, uint64_t time, uint32_t thread);
void mt_lane_release(void);

/* Writes the checksum of what is complete in the lane's chunk: as mt_event_writer_check. */
void mt_lane_check(void);

/* As mt_thread_state_survive_fork. */
void mt_lane_survive_fork(void);

/* In a forked child.
 *
 * is_in_use  the hook that the fork interrupted may still write through it */
void mt_lane_reset(bool is_in_use);

#endif
