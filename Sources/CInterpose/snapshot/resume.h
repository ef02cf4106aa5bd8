/* Lets a system call that a handler of ours interrupted begin anew, where the kernel would let it
 * fail with EINTR, or end it as if it were complete: the program did not ask for that signal. */
#ifndef MT_RESUME_H
#define MT_RESUME_H

#include "snapshot/call_number.h"

/* Changes where the handler returns to, if the call can begin anew without waiting longer than the
 * program meant: it has no time limit, waits until a moment, keeps what is left of its time, or a
 * hook has noted when it began (noted_wait.h). Where only the kernel keeps the rest (of a poll or a
 * sleep that no hook has seen), waits for it here (wait_on.h), as for sockets with a time limit,
 * which may take somewhat longer (wait_socket.h), for the rest of a write (cut_transfer.h), and for
 * completions of what a call has submitted (cut_submission.h).
 *
 * Nothing is changed where no call was interrupted, or one of which nobody knows what is left of
 * its time (io_uring_enter and connect with a timeout; epoll_wait, sigtimedwait, semtimedop
 * and io_getevents that no hook has seen); where a signal of the program's has come meanwhile,
 * which would have ended the call; nor on aarch64, where the kernel overwrites an argument.
 *
 * context  third argument of the handler, which has held back all signals and does nothing
 *          afterwards but return
 * seen     what the thread was seen to wait in before; NULL: nobody has looked */
void mt_resume_call(void *context, const struct mt_call *seen);

#endif
