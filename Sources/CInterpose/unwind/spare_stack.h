/* Stacks of the recorder's own, for what needs more room than the host's may have left.
 *
 * libunwind takes up to 10 KiB. A thread's stack may have 16 KiB in all, and the alternate one of a
 * signal handler 8 KiB, of which the kernel's frame is half. */
#ifndef MT_SPARE_STACK_H
#define MT_SPARE_STACK_H

#include "base/os.h"

/* Calls function(pcs, capacity) on a spare stack. Its callers can be unwound from there.
 *
 * returns  what the function returned; -1 when all spare stacks are taken: it was not called
 * context  with signals held back: whoever jumped away would keep the stack */
int mt_spare_stack_call(int (*function)(void **, int), void **pcs, int capacity);

/* In a forked child: the stacks of the parent's other threads are free. */
void mt_spare_stack_survive_fork(void);

#endif
