/* Ends waits of io_uring_enter(2) that a handler of ours has cut short: where the call has handed
 * something to the kernel before, it does not fail with EINTR, but returns how much that was, as
 * though what it waits for had come. A program that handles no signals need not expect that. */
#ifndef MT_CUT_SUBMISSION_H
#define MT_CUT_SUBMISSION_H

#include "snapshot/call_number.h"

/* Whether the thread was interrupted in such a call. One that had just got what it waits for looks
 * the same.
 *
 * context  third argument of the handler
 * seen     what mt_call_see() said of the thread before; NULL: nobody has looked */
bool mt_cut_submission_is(const void *context, const struct mt_call *seen);

/* Waits on within the handler, with the signals let through that the program lets through; one that
 * comes ends the wait. The result of the call stays what it is. Does nothing where the wait may
 * have a time limit, since nobody knows when it began, nor on the signal stack, which may be small.
 *
 * context  as above; the handler does nothing afterwards but return
 * returns  whether it was such a call */
bool mt_cut_submission_finish(void *context, const struct mt_call *seen);

#endif
