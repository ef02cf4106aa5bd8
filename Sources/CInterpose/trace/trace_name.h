/* How traces are named. */
#ifndef MT_TRACE_NAME_H
#define MT_TRACE_NAME_H

#include "base/config.h"
#include <stdbool.h>

/* Makes the root path absolute and fills in %p (pid) and %n (program): config->output, or
 * NAME.mtrace where it is empty. False when it does not fit. */
bool mt_trace_name_root(struct mt_config *config);

/* The path for try number 0, 1, 2 ...: ROOT, then STEM.NAME.PID.mtrace, then STEM.NAME.PID.2.mtrace
 * and so on. skip_root: for children, which never take the root's name. */
bool mt_trace_name_try(const struct mt_config *config, bool skip_root, unsigned attempt,
                       char path[PATH_MAX]);

#endif
