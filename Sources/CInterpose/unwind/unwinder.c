/* The options of unwinder.h. */
#include "unwind/unwinder.h"

uint32_t mt_unwind_depth = 128;
bool mt_unwind_only_libunwind, mt_unwind_compares;
