/* What the recorder says to the user: one line on stderr, by write(2). */
#ifndef MT_DIAG_H
#define MT_DIAG_H

/* "memtrace[pid]: what: why". why is "" or text; error is 0 or -errno, named in words. Says
 * nothing with MEMTRACE_VERBOSE=0, and only the first time in a process. */
void mt_diag_once(const char *what, const char *subject, long error);

#endif
