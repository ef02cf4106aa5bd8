/* Calls that wait for a time, noted by hooks when they begin.
 *
 * Of epoll_wait and others with a time limit the kernel keeps no rest where a handler interrupts
 * them: they fail with EINTR, whatever the program thinks of it. Who knows when such a call has
 * begun lets it begin anew for what is left. Of poll and sleeps it keeps one, which can be waited
 * for within the handler only (wait_on.h), and so not on a signal stack: these are noted as well.
 */
#ifndef MT_NOTED_WAIT_H
#define MT_NOTED_WAIT_H

#include "base/clock.h"
#include "base/foreign_thread.h"
#include "base/tls.h"

struct mt_call; /* call_number.h */

/* Notes a call that begins now; without its time where nothing is recorded, or the counter is a
 * system call. Does nothing in a foreign thread: what it has in the place of ours is not to be
 * written to. Async-signal-safe.
 *
 * sp                    that of its caller
 * first, second, third  arguments; 0 for a time limit that the C library is yet to make */
static inline void mt_noted_wait_begin(long number, uintptr_t sp, uint64_t first, uint64_t second,
                                       uint64_t third) {
    if (mt_unlikely(!mt_thread_has_block()))
        return;
    struct mt_noted_wait *wait = &mt_tls.wait;
    wait->number = 0; /* a handler may come in between */
    wait->sp = sp;
    /* Who is not recorded may have given the counter away. */
    wait->ticks = *mt_generation == 0 || mt_clock_is_ns ? 0 : mt_clock_now();
    wait->arguments[0] = first;
    wait->arguments[1] = second;
    wait->arguments[2] = third;
    wait->is_shortened = false;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    wait->number = (uint32_t)number;
}

/* What the calling thread has noted last; nothing where it is a foreign one. In a handler. */
const struct mt_noted_wait *mt_noted_wait_last(void);

/* Whether an interrupted call is the one that was noted, and has a time limit that can be changed.
 */
bool mt_noted_wait_is(const struct mt_call *call);

/* Gives such a call the rest of its time for its time limit, so that it can begin anew.
 *
 * context  third argument of the handler
 * returns  false: it is no such call */
bool mt_noted_wait_shorten(const struct mt_call *call, void *context);

#endif
