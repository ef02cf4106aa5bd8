/* What the recorder says to the user: one line on stderr, by write(2). */
#ifndef MT_DIAG_H
#define MT_DIAG_H

#include <stddef.h>

#define MT_RUNS_UNRECORDED "; the program runs on unrecorded"

/* "memtrace[pid]: WHAT SUBJECT: ERROR CONSEQUENCE". subject may be ""; error is 0 or -errno, named
 * in words. Says nothing with MEMTRACE_VERBOSE=0 or in a child of a recorded process, and only the
 * first thing in a process. */
void mt_diag_once(const char *what, const char *subject, long error, const char *consequence);

/* From now on what is said is written here instead, without the process's number.
 *
 * buffer  [size], for good or until a call with NULL; "" until something is said */
void mt_diag_into(char *buffer, size_t size);

/* An error in words; "error" where there are none for it.
 *
 * error  -errno */
const char *mt_diag_reason(long error);

#endif
