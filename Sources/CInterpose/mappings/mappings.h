/* Calls of the program that map memory, unmap it, or change what may be done with it: --mappings,
 * MEMTRACE_MAPPINGS.
 *
 * What the C library and the kernel map for themselves (the heap of malloc, libraries, stacks of
 * threads) goes past the functions that the program calls, and is not recorded. docs/mappings.md.
 *
 * Two threads may have one address after the other: what ends has the time before its call, what
 * begins the time after it, as with blocks (clock.h). */
#ifndef MT_MAPPINGS_H
#define MT_MAPPINGS_H

#include "memtrace_format.h"
#include "unwind/unwinder.h"

/* Whether such calls are recorded. */
extern MT_INTERNAL bool mt_mappings_are_recorded;

/* Turns it on, if the options say so, and says so in the trace; again in a forked child. */
void mt_mappings_begin(void);

/* Before the real call.
 *
 * returns  a record of the call that says when what it ends has ended; the rest is zero
 * context  any hook; errno untouched */
struct mt_mapping_record mt_mapping_call(enum mt_mapping_call call);

/* After a real call that succeeded: completes the record by time, stack and path, and writes it. A
 * beginning is left out while recording is paused.
 *
 * caller      of the hook
 * descriptor  of the file that is mapped; -1: none
 * context     any hook; errno untouched */
void mt_mapping_write(struct mt_mapping_record *mapping, const struct mt_frame *caller,
                      int descriptor);

#endif
