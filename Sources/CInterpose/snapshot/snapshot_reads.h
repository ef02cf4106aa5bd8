/* Careful reads of memory that may be anything: what looks like an object of a language runtime
 * need not be one. For where the image is written: nothing changes the memory meanwhile. */
#ifndef MT_SNAPSHOT_READS_H
#define MT_SNAPSHOT_READS_H

#include "base/os.h"
#include <string.h>

enum { MT_SNAPSHOT_NAME_MAX = 255 };

/* True when all of a stretch can be read; it has at most a page. */
static inline bool mt_snapshot_can_read(uint64_t address, size_t size) {
    uint64_t last = address + size - 1;
    if (address < MT_PAGE_SIZE || last < address || last >> 47)
        return false;
    return mt_os_is_readable(address & ~(uint64_t)(MT_PAGE_SIZE - 1)) &&
           mt_os_is_readable(last & ~(uint64_t)(MT_PAGE_SIZE - 1));
}

/* The word at an offset, which the caller knows to be readable. */
static inline uint64_t mt_snapshot_field(uint64_t object, uint64_t offset) {
    uint64_t value;
    memcpy(&value, (const void *)(object + offset), sizeof value);
    return value;
}

/* Copies a terminated string of printable bytes.
 *
 * name     room for MT_SNAPSHOT_NAME_MAX
 * returns  its length; 0 when there is none or it is longer */
size_t mt_snapshot_read_name(uint64_t address, char *name);

#endif
