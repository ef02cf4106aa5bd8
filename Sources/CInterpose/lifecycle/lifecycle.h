/* When there is a recording: start-up, forked children, the end.
 *
 *   UNSTARTED --first hook or constructor--> STARTING --> RECORDING
 *                                                    \--> OFF (the reason said once)
 *   RECORDING --in a forked child--> STARTING --> RECORDING (own trace) or OFF
 */
#ifndef MT_LIFECYCLE_H
#define MT_LIFECYCLE_H

#include "memtrace_format.h"
#include "process/recording.h"

/* Brings the process from UNSTARTED (or freshly forked) to RECORDING or OFF.
 * context  any hook; what it allocates passes through unrecorded */
enum mt_state mt_lifecycle_start(void);

/* The process was running before the recorder came: its options are not in its environment.
 *
 * options  "NAME=value" each, ended by NULL; not kept beyond the start */
void mt_lifecycle_attach(char **options);

/* When the recorder was loaded: earlier or later than its start, which the first hook causes. */
void mt_lifecycle_note_load(uint64_t ticks);

/* A hook was called that could not record yet. */
void mt_lifecycle_note_early_call(void);

/* The program is one that is skipped: it has a trace, and no events. */
bool mt_lifecycle_is_silent(void);

/* mt_recording_owns_trace(), where a forked child whose first call this is begins its own trace
 * before. */
bool mt_lifecycle_has_trace(void);

/* The host is about to make a call after which it may not be able to open or create files where the
 * traces are: a forked child without a trace begins it now, and a descriptor that the host has
 * closed is opened again.
 * context  async-signal-safe; errno untouched; nothing in a vfork child */
void mt_lifecycle_before_confinement(void);

/* Writes how the process ends into its trace. A forked child that never allocated has none until
 * here; a vfork child has none at all: its memory is its parent's, and so is the trace. */
void mt_lifecycle_end(enum mt_end_kind kind, int status);

/* Nothing more is to be written: the checksums of what has been. */
void mt_lifecycle_seal(void);

#endif
