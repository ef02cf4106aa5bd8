/* What allocates past the recorder: noted in the trace, and in those of children that are forked
 * later, in which the same calls go past it. */
#ifndef MT_BYPASSING_H
#define MT_BYPASSING_H

#include <stdbool.h>

/* Notes an allocator function whose calls do not reach us.
 *
 * function   its name
 * image      the path of who has it, or calls it
 * are_freed  whether frees of what it allocates reach us: an address may then be another block's
 * context    any thread; errno untouched */
void mt_bypassing_note(const char *function, const char *image, bool are_freed);

/* In a forked child, before anything is noted. */
void mt_bypassing_after_fork(void);

/* Notes in a forked child's own trace what was noted in its parent's; where there was much, the
 * first 4 KiB of it. */
void mt_bypassing_note_again(void);

/* Whether the executable calls the C library's allocator by names that ours does not come
 * before (__libc_malloc), as allocators do that only count, or fail when asked to.
 *
 * context  reads the executable's own tables alone */
bool mt_bypassing_by_executable(void);

#endif
