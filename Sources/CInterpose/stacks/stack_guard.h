/* Who may change the stack table: one thread at a time.
 *
 * Once a process has several threads, that is whoever holds a lock, with signals held back. Two
 * system calls for it are half of what a new stack costs; so the only thread of a process goes
 * without. A handler may interrupt its change then, which may stay as it is for long, or for ever:
 *
 *  the handler records    inside a hook: events that have no stack
 *  it jumps away, or ends the thread
 *                         the next hook, or the end of the thread, repairs what it finds
 *  it forks               the copy leaves the change alone until that is over (stack_table.c)
 *  it waits for threads that it has made
 *                         these do not wait for the change for long, and go without new stacks
 */
#ifndef MT_STACK_GUARD_H
#define MT_STACK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct mt_stack_guard {
    bool is_interruptible;
    uint64_t signals; /* unless interruptible: mt_os_block_signals */
};

/* Begins a change.
 *
 * may_be_interrupted  so short a change, that leaves nothing half done but what
 *                     mt_stack_guard_repair tells of
 * returns             false where the table cannot be changed for now: nothing is to be ended
 * context             any thread, inside a hook; errno untouched */
bool mt_stack_guard_enter(struct mt_stack_guard *guard, bool may_be_interrupted);
void mt_stack_guard_exit(const struct mt_stack_guard *guard);

/* Whether a handler has interrupted a change by the calling thread. */
bool mt_stack_guard_is_interrupted(void);

/* Ends the interrupted change, which will not go on.
 * context  the thread whose it is, with signals held back */
void mt_stack_guard_repair(void);

/* In a forked child, outside of an interrupted change: no other thread is there. */
void mt_stack_guard_reset(void);

#endif
