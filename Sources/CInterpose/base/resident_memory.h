/* How much of the process was in memory at once, for the reader's "resident memory" line. */
#ifndef MT_RESIDENT_MEMORY_H
#define MT_RESIDENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Tells what getrusage() counts from now on from what it has of a program before.
 *
 * is_own   whether this program alone has run in the process: in a forked child, or where it is to
 *          count that the process had another one
 * context  start-up and forked child, single caller */
void mt_resident_begin(bool is_own);

/* The most bytes that this program has had in memory at once, as far as one call can tell.
 *
 * returns  0 where what executed the program had more: getrusage(2) adds that up by process ID
 * context  any; async-signal-safe */
uint64_t mt_resident_peak(void);

/* The same, from /proc where that is mounted, which always knows it.
 *
 * source   proc_pid_status(5), "VmHWM"
 * context  any with 2 KiB of stack; async-signal-safe */
uint64_t mt_resident_final_peak(void);

#endif
