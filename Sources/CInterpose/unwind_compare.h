/* The proof that our walk gives what libunwind gives: MEMTRACE_UNWINDER=compare. */
#ifndef MT_UNWIND_COMPARE_H
#define MT_UNWIND_COMPARE_H

#include "unwind.h"

/* Walks the stack that is in unwinder->cache again, with unw_backtrace; counts it, and counts and
 * notes (the first few) a difference. Context as for mt_unwind_capture. */
void mt_unwind_compare(struct mt_unwinder *unwinder, struct mt_frame leaf);

#endif
