/* When there is a recording: start-up, forked children, the end.
 *
 *   UNSTARTED --first hook or constructor--> STARTING --> RECORDING
 *                                                    \--> OFF (the reason said once)
 *   RECORDING --in a forked child--> STARTING --> RECORDING (own trace) or OFF
 */
#ifndef MT_LIFECYCLE_H
#define MT_LIFECYCLE_H

#include "config.h"
#include "memtrace_format.h"
#include "os.h"

enum mt_state { MT_UNSTARTED = 0, MT_STARTING, MT_RECORDING, MT_OFF };

/* Options as read at start-up; the output path is absolute from then on. */
extern struct mt_config mt_config;

enum mt_state mt_lifecycle_state(void);

/* Brings the process from UNSTARTED (or freshly forked) to RECORDING or OFF.
 * context  any hook; what it allocates passes through unrecorded */
enum mt_state mt_lifecycle_start(void);

/* True when this process is a forked child that still holds its parent's state. */
bool mt_lifecycle_is_forked(void);

/* True when the caller is the recorded process itself, not a vfork child borrowing its memory. */
bool mt_lifecycle_owns_trace(void);

/* The same, where a forked child whose first call this is begins its own trace before. */
bool mt_lifecycle_has_trace(void);

/* The host is about to let a seccomp filter kill it for system calls that it does not list, such as
 * ours: stops recording for good. Call before the filter is there. */
void mt_lifecycle_enter_sandbox(void);

/* The host is about to make this call of prctl, by whatever way: stops recording where it would
 * make recording deadly. A seccomp filter may kill for our system calls; without the cycle counter,
 * which strict seccomp takes, too, a stamp would be a SIGSEGV. */
void mt_lifecycle_before_prctl(long option, unsigned long argument);

/* Writes how the process ends into its trace. A forked child that never allocated has none until
 * here; a vfork child has none at all: its memory is its parent's, and so is the trace. */
void mt_lifecycle_end(enum mt_end_kind kind, int status);

/* Id of this process's trace and the pid it belongs to; in a vfork child or an untouched forked
 * child, its parent's. */
uint32_t mt_lifecycle_trace_id(uint8_t id[16]);

#endif
