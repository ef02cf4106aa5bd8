/* Begins a recording in a process that is running already. */
#ifndef MT_ATTACH_H
#define MT_ATTACH_H

#include <stdbool.h>

/* Whoever loads the recorder into a running process names it by a path that has this in front of
 * the file: its constructor then leaves the start to memtrace_attach, which is told the options. */
#define MT_ATTACH_MARK "/./././"

/* Whether the recorder was loaded that way. */
bool mt_attach_is_expected(void);

#endif
