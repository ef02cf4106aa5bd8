/* The threads of the process, by /proc/self/task. */
#ifndef MT_THREAD_LIST_H
#define MT_THREAD_LIST_H

#include "base/os.h"

/* How many threads a snapshot can tell apart. */
#define MT_THREADS_MAX 16384u

/* Lists the threads but the calling one.
 * tids     room for MT_THREADS_MAX
 * returns  how many, -ENOENT where /proc is not mounted
 * context  one caller at a time; async-signal-safe */
long mt_thread_list(uint32_t *tids);

/* The signals that a thread holds back: bit n - 1 for signal n; all of them where that cannot be
 * read. returns  false for a thread that has ended, if its entry is still there or not */
bool mt_thread_blocked_signals(uint32_t tid, uint64_t *blocked);

/* Whether a thread is one of the kernel's, which lists them among those of the process for which
 * they work (io_uring, vhost): they run nothing of the program, and take no signals.
 *
 * blocked  the signals that it holds back */
bool mt_thread_is_kernels(uint32_t tid, uint64_t blocked);

#endif
