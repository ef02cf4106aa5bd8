/* Where a process ends that did not mean to: in a fault, or in abort(). */
#ifndef MT_CRASH_H
#define MT_CRASH_H

#include "base/registers.h"
#include "unwind/unwinder.h"

/* Records what a signal has stopped, in a CRASH record.
 *
 * code     si_code of the signal
 * address  si_addr, where it is a fault; 0: it is none
 * context  third argument of a signal handler, in which this is called; the signal ends the process
 */
void mt_crash_note_signal(int signal, int code, uintptr_t address, const void *context);

/* Records who has called abort().
 *
 * context  in the hook, before it does anything; async-signal-safe */
void mt_crash_note_abort(struct mt_frame caller);

#endif
