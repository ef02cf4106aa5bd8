/* Stacks of signal handlers: the frames that were interrupted.
 *
 * A handler returns to a few instructions that ask the kernel to go on where the thread was. All
 * registers from there lie above its frame, in the form of ucontext_t. The stack of
 * the interrupted frame's caller is one as others, and stays in the cache from event to event; the
 * frames of the handler never get into it. */
#ifndef MT_UNWIND_SIGNAL_H
#define MT_UNWIND_SIGNAL_H

#include "unwind/unwinder.h"

/* Whether the code at an address asks the kernel to return from a signal handler (sigreturn(2)).
 *
 * context  any thread; system calls */
bool mt_is_signal_return(uintptr_t address);

/* Behind a walk that ended with MT_WALK_SIGNAL: its frames, what each signal has interrupted, and
 * the frames of handlers that were interrupted in their turn, in unwinder->pcs, with marks
 * (MT_STACK_EXACT_MARK). The stack that goes on behind them is in the cache.
 *
 * known    frames of that walk
 * returns  how many; 0 where the rest cannot be found by rules
 * context  as mt_unwind_capture; a system call where another stack was interrupted */
uint32_t mt_signal_frames(struct mt_unwinder *unwinder, uint32_t known);

#endif
