/* How much memory the process may use: for the reader's "memory hog" line, and for what may be kept
 * back. */
#ifndef MT_MEMORY_LIMITS_H
#define MT_MEMORY_LIMITS_H

#include <stdint.h>

/* The lowest memory limit of the process's cgroup and its parents, v2 or v1.
 *
 * returns  bytes; UINT64_MAX when there is none or it cannot be read
 * source   https://docs.kernel.org/admin-guide/cgroup-v2.html, "memory.max"
 * context  start-up; reads /proc/self/cgroup and a few small files */
uint64_t mt_memory_limit_of_cgroup(void);

#endif
