/* The trace of this process: whose it is, where it lies. */
#ifndef MT_OWN_TRACE_H
#define MT_OWN_TRACE_H

#include "trace/trace_file.h"

/* What a trace says of where its process comes from. Gives the process a session where it has none.
 * load_ticks  when the recorder was loaded; 0: not yet */
struct mt_trace_origin mt_own_trace_origin(uint64_t load_ticks);

/* The same of a forked child, while it still has its parent's state. */
struct mt_trace_origin mt_own_trace_origin_forked(uint64_t load_ticks);

/* Creates the trace under the first name that is free.
 * returns  0, or a negative errno */
long mt_own_trace_create(const struct mt_trace_origin *origin);

/* Removes the trace that our own exec replaced: a forked child's few events before it. */
void mt_own_trace_remove_replaced(const struct mt_trace_origin *origin);

#endif
