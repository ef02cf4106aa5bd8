/* Retains and releases of Swift objects: --refcounts, MEMTRACE_REFCOUNTS.
 *
 * The hooks are put into the Swift runtime's own places for them (swift_runtime.h), once, when the
 * image with the runtime is first met. While nothing is asked for, no place is written to and no
 * code of ours runs. docs/refcounts.md. */
#ifndef MT_REFCOUNTS_H
#define MT_REFCOUNTS_H

#include "loader/elf_symbols.h"

/* Turns them on for images that come, if the options say so. Once, before images are looked at. */
void mt_refcounts_begin(void);

/* In a forked child: says in its trace what is recorded; the hooks are there. */
void mt_refcounts_after_fork(void);

/* An image was loaded: as struct mt_image_watcher. */
bool mt_refcounts_look(const struct mt_loaded_image *image);

#endif
