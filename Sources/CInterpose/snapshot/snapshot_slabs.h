/* Slabs of Swift's tasks in an executable that contains the runtime and is stripped: no symbol
 * tells what they begin with, but their form does.
 *
 *   slab   +0  a variable of the runtime, of which only the address is used: it is 0
 *          +8  the next slab          +16 u32 capacity, u32 in use
 *          +32 in front of the first frame: the allocation before it  +40 the slab itself
 *
 * Source: stdlib/public/runtime/StackAllocator.h of the Swift repository. */
#ifndef MT_SNAPSHOT_SLABS_H
#define MT_SNAPSHOT_SLABS_H

#include "loader/elf_symbols.h"
#include "snapshot/snapshot_pages.h"

/* What slabs of the process begin with.
 *
 * runtime  the image with the runtime
 * returns  0 where none was found
 * context  where the image is written; async-signal-safe */
uint64_t mt_snapshot_slabs_find(struct mt_page_walker *walker, const struct mt_region_list *list,
                                const struct mt_loaded_image *runtime);

#endif
