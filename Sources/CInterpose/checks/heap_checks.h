/* What may be asked of the blocks beside recording them: zombies, redzones, guarded blocks, and
 * that there are none to be had.
 *
 * Each replaces the allocator's functions by its own in front of those that are there. All are off
 * unless the options say otherwise (config.h), and then nothing here does anything. */
#ifndef MT_HEAP_CHECKS_H
#define MT_HEAP_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

/* Leaves out of the options what cannot be had in a sample, which knows few of the blocks.
 *
 * returns  whether anything is asked for that shows in the way a process ends */
bool mt_heap_checks_configure(void);

/* Begins those that are asked for. One that cannot begin is said on standard error, and left out of
 * the options. Once, after mt_real_resolve(). */
void mt_heap_checks_begin(void);

/* In a forked child: what was written before the fork is its parent's to tell, and its allocations
 * count from 1. */
void mt_heap_checks_after_fork(void);

/* Notes in the trace which there are. */
void mt_heap_checks_note(void);

/* The process may have limited its memory. */
void mt_heap_checks_heed_limit(void);

/* Nothing can be asked of the kernel any more (a sandbox): what the program has freed is to be had
 * again without. */
void mt_heap_checks_rest(void);

/* Look at all blocks, and record what has been done to them; async-signal-safe. */
void mt_heap_checks_at_mark(void);
void mt_heap_checks_at_end(void);

/* A fault is about to end the process: whether it came from a block that nobody may use.
 *
 * address  si_addr of the signal
 * context  third argument of a signal handler, in which this is called */
void mt_heap_checks_at_fault(int signal, uintptr_t address, const void *context);

#endif
