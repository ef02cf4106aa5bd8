/* What a seccomp filter that the host is about to install would do to the recorder's own calls.
 *
 * Filters are programs of classic BPF without loops, over the number of a call, its machine and its
 * arguments. Run for each call that the recorder makes, with arguments that may be anything, on all
 * paths, one says for certain that it lets the recorder go on, or nothing. Most do that forbid some
 * calls (firejail, flatpak, containers); those do not that list the few calls of a parser. */
#ifndef MT_SANDBOX_FILTER_H
#define MT_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether the filter can do nothing to the recorder but let its calls pass, log them, and refuse
 * those that it can do without.
 *
 * program  [length] readable
 * returns  false also for programs that no kernel would take, and for those with too many paths
 * context  anywhere; no system call, a KiB of stack */
bool mt_sandbox_filter_spares(const struct sock_filter *program, uint32_t length);

/* Likewise, where the recorder is yet to be brought in by the loader of a process that runs. */
bool mt_sandbox_filter_spares_attaching(const struct sock_filter *program, uint32_t length);

#endif
