/* Reads memory that a word found in a block points to, without ever trusting it.
 *
 * Only two kinds of memory are read: that of known images, and blocks in which the Swift runtime
 * makes metadata at run time (type_slabs.h). Each page is tried with a system call first
 * (mt_os_is_readable), because images have holes. */
#ifndef MT_TYPE_MEMORY_H
#define MT_TYPE_MEMORY_H

#include "base/os.h"

/* Pages that were readable a moment ago. For one look at one type: zero-initialise. */
struct mt_type_memory {
    uintptr_t pages[8];
    uint32_t next;
};

/* Each copies what is at an address; false, with nothing copied, where it may not be read or is not
 * aligned. context: under the lock of type_registry.c */
bool mt_type_read64(struct mt_type_memory *memory, uintptr_t address, uint64_t *value);
bool mt_type_read32(struct mt_type_memory *memory, uintptr_t address, uint32_t *value);
bool mt_type_read16(struct mt_type_memory *memory, uintptr_t address, uint16_t *value);
bool mt_type_read8(struct mt_type_memory *memory, uintptr_t address, uint8_t *value);

/* Follows the 4-byte distance at an address, as Swift stores pointers; 0 where there is none. */
bool mt_type_read_relative(struct mt_type_memory *memory, uintptr_t address, uintptr_t *target);

/* Copies a terminated string of at most capacity - 1 bytes.
 * returns  its length; -1 when it is longer or not readable */
long mt_type_read_string(struct mt_type_memory *memory, uintptr_t address, char *buffer,
                         size_t capacity);

#endif
