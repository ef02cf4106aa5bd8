/* libunwind, for the stacks that our own rules decline.
 *
 * Loaded with dlopen into a scope of its own: as a needed library its 18 _Unwind_* exports would
 * take over the host's exceptions. */
#ifndef MT_LIBUNWIND_BACKEND_H
#define MT_LIBUNWIND_BACKEND_H

#include "base/os.h"

/* Loads and prepares libunwind.so.8. Once, from the constructor, before other threads exist; it
 * allocates. Without the library, stacks end at the first frame that our rules decline. */
void mt_libunwind_load(void);

/* unw_backtrace(): return addresses, leaf first, beginning with the recorder's own frames.
 *
 * returns  how many, 0 without libunwind
 * errors   errno untouched
 * context  inside a hook */
uint32_t mt_libunwind_backtrace(uintptr_t *pcs, uint32_t capacity);

#endif
