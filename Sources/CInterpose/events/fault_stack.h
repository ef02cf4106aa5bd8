/* Signal stacks of the recorder's for threads that have none, where it handles the signals that end
 * the process: one that has used up its stack has no room for a handler, and the kernel ends it
 * without a word.
 *
 * The host does not see them: sigaltstack says what it would without the recorder. They are not for
 * its handlers: once it wants one to run on a signal stack, no thread is given one any more. Those
 * that threads have stay, large enough for anybody's handler: who asks the kernel itself sees them,
 * and may count on them, as the runtime of Go does. */
#ifndef MT_FAULT_STACK_H
#define MT_FAULT_STACK_H

#include "base/os.h"

struct mt_thread;

/* From here on threads are given one, the calling one at once; but in a program that has handlers
 * on signal stacks already. At start-up, when the recorder has its handlers. */
void mt_fault_stacks_begin(void);

/* Threads that begin are given none any more. */
void mt_fault_stacks_end(void);

/* Gives the calling thread one, if it has none and there is memory for it.
 * thread  its state, which keeps the memory for the next one; NULL: it has none */
void mt_fault_stack_lend(struct mt_thread *thread);

/* Takes the calling thread's back, whose state is about to be another's. */
void mt_fault_stack_take_back(void);

/* In a forked child: the calling thread keeps the one that it has, whoever gets its state. */
void mt_fault_stack_survive_fork(struct mt_thread *thread);

/* Whether a signal stack of the calling thread is the recorder's. Async-signal-safe. */
bool mt_fault_stack_is(struct mt_signal_stack stack);

/* Looks whether there is memory at the stack pointer of a fault; before anything of ours is mapped,
 * since that may be there. Then mt_tls.stack_end is where the stack begins whose pointer has been
 * moved beyond it, UINTPTR_MAX where there is none near, and 0 where the pointer is right. */
void mt_fault_stack_look(uintptr_t sp);

/* Where what is on the stack begins, of a thread whose stack pointer is `sp`. */
uintptr_t mt_fault_stack_top(uintptr_t sp);

#endif
