/* Whether the calling process is being recorded, and as what. Who changes that: lifecycle.h. */
#ifndef MT_RECORDING_H
#define MT_RECORDING_H

#include "base/os.h"

enum mt_state { MT_UNSTARTED = 0, MT_STARTING, MT_RECORDING, MT_OFF };

enum mt_state mt_recording_state(void);

/* True when this process is a forked child that still holds its parent's state. */
bool mt_recording_is_forked(void);

/* True when the caller is the recorded process itself, not a vfork child borrowing its memory. */
bool mt_recording_owns_trace(void);

/* Id of this process's trace and the pid it belongs to; in a vfork child or an untouched forked
 * child, its parent's. */
uint32_t mt_recording_trace_id(uint8_t id[16]);

/* ---- Changes ---- */

/* Readies what tells a forked child from its parent.
 * returns  false where the kernel does not know how (before Linux 4.14) */
bool mt_recording_prepare(void);

/* From now on hooks may record, into the trace of that id. After mt_recording_prepare(). */
void mt_recording_begin(const uint8_t trace_id[16]);

void mt_recording_set_state(enum mt_state state);

/* For good: hooks find no generation and no recording, so that not a single system call is made any
 * more. */
void mt_recording_end(void);

#endif
