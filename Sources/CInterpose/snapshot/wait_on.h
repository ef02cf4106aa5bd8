/* Goes on with a system call that a handler of ours has interrupted, where the kernel keeps what is
 * left of its time: poll, sleeps for a time, and FUTEX_WAIT.
 *
 * The kernel keeps it for restart_syscall(2), with which it resumes calls after a signal without a
 * handler, until a handler returns. So the rest is waited for within our handler, with the signals
 * let through that the program lets through. One that comes has the kernel forget the rest when its
 * handler returns, and the call fails with EINTR, as without us. */
#ifndef MT_WAIT_ON_H
#define MT_WAIT_ON_H

#include "snapshot/call_number.h"

/* True where the kernel keeps what is left of this call, which was interrupted. */
bool mt_wait_on_is_kept(const struct mt_call *call);

/* True where nothing can be waited for within the handler, since it runs on an alternate signal
 * stack: handlers of the program that come meanwhile may have counted on all of it.
 *
 * context  third argument of the handler */
bool mt_wait_on_has_no_room(const void *context);

/* Waits for the rest, and makes its result that of the interrupted call. Does nothing where there
 * is no room for it.
 *
 * context       third argument of the handler, which does nothing afterwards but return
 * is_ours_lost  the handler itself has waited for a futex for a time: where the process was stopped
 *               meanwhile, what the kernel keeps is left of that, and the call fails with EINTR */
void mt_wait_on(void *context, bool is_ours_lost);

/* Where the handler has interrupted mt_wait_on() itself, or its way there, goes on with that and
 * does not return: it would have the kernel forget the rest, and each snapshot within one wait
 * takes stack if it waited here. */
void mt_wait_on_again(const void *context);

#endif
