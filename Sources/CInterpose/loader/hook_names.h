/* What the functions are called that we have hooks for, but those that the recorder alone has. */
#ifndef MT_HOOK_NAMES_H
#define MT_HOOK_NAMES_H

#include "base/os.h"

/* The allocator of the C library, and the operators of C++. */
enum { MT_ALLOCATOR_NAMES = 34 };
extern const char *const mt_allocator_names[MT_ALLOCATOR_NAMES];

/* All: those of the allocator first, those that only MEMTRACE_MAPPINGS needs last. */
enum { MT_HOOK_NAMES = MT_ALLOCATOR_NAMES + 62 + 7 };
const char *mt_hook_names_at(size_t index);

/* How many of them calls are to be led to, with the options of this process. */
size_t mt_hook_names_wanted(void);

/* Whether calls of that name are to be led to ours. */
bool mt_hook_names_has(const char *name);

#endif
