/* Whether threads have a signal stack in common, as those of a program may whose handlers only end
 * it: each gives sigaltstack the same memory. Two of them that stand still in a handler at the same
 * time would overwrite each other's frames. The kernel tells nobody but the thread itself. */
#ifndef MT_SIGNAL_STACKS_H
#define MT_SIGNAL_STACKS_H

#include "base/os_threads.h"

/* Takes down that a thread has set up a signal stack: `before` is its last one, and a size of 0
 * none. Async-signal-safe, without lock. */
void mt_signal_stacks_change(uint32_t tid, struct mt_signal_stack before,
                             struct mt_signal_stack now);

/* Whether two threads had the same one at the same time, as far as anybody has taken it down. Once
 * it is so, it stays so. */
bool mt_signal_stacks_are_shared(void);

/* From here on as if it were so. */
void mt_signal_stacks_assume_shared(void);

/* A handler as mt_os_handler() makes it: on signal stacks, as code may run on stacks that have no
 * room for one (goroutines, fibers); but where threads share one, on the stack that each is on. */
struct mt_os_action mt_signal_stacks_handler(void (*handler)(int, siginfo_t *, void *));

/* Takes down that of the calling thread, which nobody has heard of: it was there before the
 * recorder, or has another number than in the process that has forked it. */
void mt_signal_stacks_meet_own(void);

#endif
