/* How far a trace may grow: to its limit (MEMTRACE_MAX_SIZE), and while its file system has more
 * room than is to be left to others (MEMTRACE_KEEP_FREE), the host first of all: what it writes
 * itself must not fail because it is recorded. */
#ifndef MT_TRACE_ROOM_H
#define MT_TRACE_ROOM_H

#include "memtrace_format.h"

/* Before the first question about a new trace.
 *
 * max_size   of the trace in bytes; 0: any
 * keep_free  bytes that are left to others, but no more than a sixteenth of the file system
 * context    start-up and forked child, single caller */
void mt_trace_room_begin(uint64_t max_size, uint64_t keep_free);

/* Whether the trace may grow.
 *
 * fd       the trace
 * end      where it ends now
 * length   how many bytes it is to grow by
 * returns  MT_STOP_NONE: it may; else why not
 * context  any thread, also in a copy of the process; async-signal-safe */
enum mt_stop_reason mt_trace_room_ask(int fd, uint64_t end, uint64_t length);

#endif
