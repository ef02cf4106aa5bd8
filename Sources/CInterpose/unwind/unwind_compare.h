/* The proof that our walk gives what libunwind gives: MEMTRACE_UNWINDER=compare. */
#ifndef MT_UNWIND_COMPARE_H
#define MT_UNWIND_COMPARE_H

#include "unwind/unwinder.h"

/* Counts one stack taken both ways, and counts and notes (the first few) a difference. */
void mt_unwind_compare(struct mt_kept_frames ours, struct mt_kept_frames theirs);

#endif
