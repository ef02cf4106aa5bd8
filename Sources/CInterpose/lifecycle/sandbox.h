/* Sandboxes of the kernel (seccomp) that the host enters, and what else stands between us and it.
 */
#ifndef MT_SANDBOX_H
#define MT_SANDBOX_H

/* The host is about to make this call of seccomp(2): stops recording for good where it can succeed,
 * also in a forked child whose first event would begin it. A filter may kill the host for system
 * calls that it does not list, such as ours; one that is seen to spare them changes nothing.
 * context  before the filter is there; errno untouched */
void mt_sandbox_before_seccomp(long operation, unsigned long flags, unsigned long argument);

/* The host is about to make this call of prctl, by whatever way: likewise, and where the counter of
 * cycles is taken from it, which strict seccomp does, too: a stamp would be a SIGSEGV. So would be
 * calls a SIGSYS, where it lets the kernel hand it those of some code
 * (PR_SET_SYSCALL_USER_DISPATCH).
 *
 * argument, next  the second and the third argument of prctl
 * context         errno untouched */
void mt_sandbox_before_prctl(long option, unsigned long argument, unsigned long next);

#endif
