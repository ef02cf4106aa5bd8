/* Blocks in which the Swift runtime makes metadata at run time.
 *
 * Instances of generic classes point to metadata that the runtime writes into blocks of 16 KiB,
 * which it never frees. A program's own blocks of that size look the same until they are freed:
 * whoever frees one has to wait for a reader (type_registry.c), so that no look into a slab can
 * meet memory that is gone. */
#ifndef MT_TYPE_SLABS_H
#define MT_TYPE_SLABS_H

#include "base/os.h"

/* MetadataAllocator's page in the Swift runtime. */
#define MT_TYPE_SLAB_SIZE 16384u

/* All under the lock of type_registry.c, but for a first look: without it, a slab that comes or
 * goes may be missed. */
bool mt_type_slabs_add(uintptr_t block);
void mt_type_slabs_remove(uintptr_t block);
bool mt_type_slabs_contain(uintptr_t address);

/* Swift metadata has been seen: from now on more slabs are kept. */
void mt_type_slabs_expect_swift(void);
bool mt_type_slabs_expects_swift(void);

/* The slab with this number; 0 behind the last. */
uintptr_t mt_type_slabs_at(uint32_t number);

#endif
