/* What an allocator has beside the functions of the C library, where it comes as a library that
 * stands in for these: mallocx of jemalloc, mi_malloc, tc_malloc.
 *
 * Programs are bound to malloc of the recorder, but to these functions of the allocator. Exported
 * by the recorder, they would tell programs that look for them that the allocator is there. So the
 * words are written anew through which images call them (rebinding.h), which changes no code.
 * Blocks of which nothing was known held nothing: what only they point to would look leaked.
 *
 * The trace does not say that blocks may be missed, unlike with what an executable brings along: an
 * image that calls such a function is initialised after the allocator, and the recorder has come
 * when that or the C++ library allocates. */
#ifndef MT_BESIDE_MALLOC_H
#define MT_BESIDE_MALLOC_H

#include "loader/elf_symbols.h"

/* Looks for the functions. Before the first image is looked at. */
void mt_beside_malloc_begin(void);

/* For each image: as struct mt_image_watcher. */
bool mt_beside_malloc_look(const struct mt_loaded_image *image);

#endif
