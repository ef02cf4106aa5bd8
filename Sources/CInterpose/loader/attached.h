/* A process that was running before the recorder came: memtrace_attach.
 *
 * Its images are bound already, past our hooks. So the words through which they call what we have
 * hooks for are written anew, of images that come later, too (rebinding.h). What stays unseen are
 * calls through addresses that the process has kept elsewhere before, and of an allocator that is
 * part of the executable or that an image has for itself. */
#ifndef MT_ATTACHED_H
#define MT_ATTACHED_H

#include "base/os.h"
#include "loader/elf_symbols.h"

/* Whether this is such a process. */
extern MT_INTERNAL bool mt_is_attached;

/* Looks up what the process calls, before its images are shown to mt_attached_look.
 * returns  NULL, or the image whose allocator cannot be seen: the executable
 * context  takes the loader's locks */
const char *mt_attached_begin(void);

/* Lets the calls of an image lead to our hooks, and says in the trace if some do not.
 * returns  false while the loader is not through with it */
bool mt_attached_look(const struct mt_loaded_image *image);

#endif
