/* Ends writes, and reads of all that was asked for, which a handler of ours has cut short: the
 * kernel resumes those that had moved nothing yet, but of others it returns how much they have
 * moved, which a program need not expect that handles no signals. */
#ifndef MT_CUT_TRANSFER_H
#define MT_CUT_TRANSFER_H

#include "snapshot/call_number.h"

/* Whether the thread was interrupted in such a call: on a pipe or the stream of a socket that it
 * waits for without a time limit, or of a device that always has more (/dev/zero, getrandom). One
 * that has just moved less for another reason looks the same.
 *
 * context  third argument of the handler
 * seen     what mt_call_see() said of the thread before; NULL: nobody has looked */
bool mt_cut_transfer_is(const void *context, const struct mt_call *seen);

/* Moves the rest within the handler, with the signals let through that the program lets through,
 * while it waits. One that comes, or an error, leaves the result at what was moved until then, as
 * without us. A handler that runs on the signal stack holds the program's back and looks for them;
 * where that stack has no room for a further handler of ours, it does nothing.
 *
 * context  as above; the handler does nothing afterwards but return
 * returns  whether it was such a call */
bool mt_cut_transfer_finish(void *context, const struct mt_call *seen);

#endif
