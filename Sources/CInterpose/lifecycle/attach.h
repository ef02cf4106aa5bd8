/* Begins a recording in a process that is running already. */
#ifndef MT_ATTACH_H
#define MT_ATTACH_H

#include <stdbool.h>

/* Whether the recorder was loaded to be told its options by memtrace_attach (memtrace_attach.h). */
bool mt_attach_is_expected(void);

#endif
