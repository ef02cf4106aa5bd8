/* Backtraces of the traced process, as stack ids.
 *
 * In layers, each giving the frames that libunwind's unw_backtrace gives (docs/unwinding.md tells
 * of the few differences):
 *
 *  0. Memos (unwind_memo.h): whole stacks that were met before, with every word that they rest on.
 *  1. The stack cache of the thread: its last stack, root first. The walk goes from the leaf until
 *     it meets a cached frame with the same stack pointer, pc and frame pointer; if every slot
 *     the older frames were read from still holds what it held, they are the same frames. This is
 *     exact, not a guess: unwinding a frame depends on nothing else (unwind_rules.h).
 *  2. The rules of .eh_frame, for the frames that are new; for code without unwind tables, such as
 *     a JIT compiler writes, the frame pointer where it is proven (unwind_frame_pointer.h). From a
 *     signal handler on, with what it has interrupted (unwind_signal.h).
 *  3. libunwind (libunwind_backend.h), for stacks with a frame that the rules decline: functions
 *     that align their stack, the lazy resolver of ld.so. */
#ifndef MT_UNWIND_H
#define MT_UNWIND_H

#include "unwind/unwinder.h"

/* Forgets what is known of the thread's stack, and every stack ID: those of a forked child begin
 * anew. */
void mt_unwind_forget(struct mt_unwinder *unwinder);

/* Gives back the memory of what a thread has kept that has ended: whole pages, from `unwinder` on,
 * which begins one. The next thread whose it is has to begin with mt_unwind_forget. */
void mt_unwind_empty(struct mt_unwinder *unwinder);

/* The rest of mt_unwind_capture (unwind_capture.h): for a stack that has no memo. */
uint32_t mt_unwind_capture_new(struct mt_unwinder *unwinder, const struct mt_frame *leaf);

/* The same, by libunwind: for a caller whose stack pointer nobody knows (unwind_hook.h). */
uint32_t mt_unwind_capture_otherwise(struct mt_unwinder *unwinder, const struct mt_frame *leaf);

#endif
