/* What the recorder says to the user: one line on stderr, by write(2). */
#ifndef MT_DIAG_H
#define MT_DIAG_H

#define MT_RUNS_UNRECORDED "; the program runs on unrecorded"

/* "memtrace[pid]: WHAT SUBJECT: ERROR CONSEQUENCE". subject may be ""; error is 0 or -errno, named
 * in words. Says nothing with MEMTRACE_VERBOSE=0 or in a child of a recorded process, and only the
 * first thing in a process. */
void mt_diag_once(const char *what, const char *subject, long error, const char *consequence);

/* An error in words; "error" where there are none for it.
 *
 * error  -errno */
const char *mt_diag_reason(long error);

#endif
