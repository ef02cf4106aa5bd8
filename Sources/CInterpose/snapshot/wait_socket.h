/* Goes on with a call on a socket that has a time limit (SO_RCVTIMEO, SO_SNDTIMEO), where a handler
 * of ours has interrupted it: the kernel lets it fail with EINTR, also where it resumes the same
 * call without a limit.
 *
 * Nobody knows when the call has begun, so it gets the limit once more from here on, and ends later
 * than it would have by what had passed before the first handler. */
#ifndef MT_WAIT_SOCKET_H
#define MT_WAIT_SOCKET_H

#include "snapshot/call_number.h"
#include <poll.h>
#include <time.h>

/* Waits, within the handler, until the socket is ready or the time is over, with the signals let
 * through that the program lets through. One that comes ends the call with EINTR, as without us.
 * Where the time is over, that is the result of the call.
 *
 * Where a handler of ours interrupts this, resume.h lets it go on with what is left.
 *
 * context  third argument of the handler, which does nothing afterwards but return
 * returns  true: the call is to begin anew; false: it has its result, or is none on a socket with a
 *          limit */
bool mt_wait_socket(const struct mt_call *call, void *context);

/* ppoll(2), which writes back what is left of its time; x86_64 only.
 *
 * limit      NULL: there is none
 * held_back  the signals that are not let through
 * returns    how many are ready, or -errno */
long mt_wait_socket_poll(struct pollfd *files, uint64_t count, struct timespec *limit,
                         const uint64_t *held_back) __attribute__((visibility("hidden")));

#endif
