/* What an allocator has beside malloc, where blocks of malloc are put elsewhere, get something
 * behind them or are kept back (heap_checks.h): the allocator does not know of that. Its functions
 * that end, resize or measure any block may get such a one. */
#ifndef MT_REPLACED_BLOCKS_H
#define MT_REPLACED_BLOCKS_H

#include "base/os.h"

/* Once the checks of the heap have begun. */
bool mt_are_blocks_replaced(void);

/* What the hook of a function is to call (bundled_functions.h).
 *
 * name     behind the prefix
 * address  of the function itself
 * returns  that address where blocks are not replaced, or the function makes some */
uintptr_t mt_replaced_call(const char *name, uintptr_t address);

#endif
