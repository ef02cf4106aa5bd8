/* The allocator that an executable brings along: jemalloc, tcmalloc or mimalloc linked into it. Or
 * a library, for itself: then it is called by names with a prefix.
 *
 * The executable calls such a function directly, and what it exports comes before the recorder for
 * all others, so that no preloaded function ever comes between. Where that is asked for
 * (MEMTRACE_BUNDLED_ALLOCATOR), the calls are led to hooks (bundled_hooks.c) by writing them anew:
 * the executable's own instructions (call_sites.h), and the words through which libraries call what
 * it exports (rebinding.h). It stays off otherwise: it changes the code of the host. */
#ifndef MT_BUNDLED_ALLOCATOR_H
#define MT_BUNDLED_ALLOCATOR_H

#include "bundled/bundled_functions.h"
#include "loader/elf_symbols.h"

/* For each image, the executable first, as long as no allocator was found: as struct
 * mt_image_watcher. */
bool mt_bundled_look(const struct mt_loaded_image *image);

/* Whether calls of an exported function lead to hooks, though not to the exported one's. */
bool mt_bundled_reaches(const char *name);

/* Whether an allocator whose functions begin with a prefix can have one of that name. */
bool mt_bundled_may_have(const char *prefix, const struct mt_bundled_function *function);

/* Says in the trace of a forked child what was done, or why nothing was. */
void mt_bundled_note(void);

#endif
