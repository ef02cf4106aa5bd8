/* Libraries that are opened with RTLD_DEEPBIND.
 *
 * They look their symbols up in themselves and in what they need, the C library among it, before
 * the global scope, where our hooks are: their calls of malloc and free would go past the recorder.
 * Once such a library is loaded, the words through which it calls allocator functions are written
 * anew: those that lead to the function behind ours then lead to ours, which calls that one. All
 * else stays bound as it is; a library with an allocator of its own keeps it. */
#ifndef MT_DEEP_BIND_H
#define MT_DEEP_BIND_H

#include "loader/elf_symbols.h"
#include <stdbool.h>

struct mt_deep_bind; /* the images that were loaded before */

/* Whether a dlopen may be made on behalf of the host's caller: the loader searches where the image
 * that calls says (RUNPATH), or names files after it ($ORIGIN), and we are another one. */
bool mt_deep_bind_may_call(const char *file);

/* Notes which images are loaded.
 * returns  NULL when there is no memory for it
 * context  the host's dlopen; errno untouched, as in all of these */
struct mt_deep_bind *mt_deep_bind_begin(void);

/* Writes the words of what is loaded now and was not then, and says in the trace what was found.
 *
 * before  is given back
 * handle  what dlopen returned; NULL: nothing */
void mt_deep_bind_end(struct mt_deep_bind *before, void *handle);

/* Says in the trace that the calls of a library may go past the recorder. */
void mt_deep_bind_note_unseen(const char *file);

/* Such a library is about to be opened by the host's own call, which may fail: programs try many
 * names. That its calls may go past the recorder is said once it is there.
 *
 * context  the host's dlopen; errno untouched */
void mt_deep_bind_await(const char *file);

/* An image was loaded: says so of one that was awaited.
 * context  as a watcher of images (image_map.h) */
void mt_deep_bind_meet(const struct mt_loaded_image *image);

#endif
