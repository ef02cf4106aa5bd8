/* What Swift's objects look like in memory. */
#ifndef MT_SWIFT_OBJECT_H
#define MT_SWIFT_OBJECT_H

#include "base/os.h"

/* Whether a block begins as a Swift object does: with an address, and with reference counts that
 * are kept there (bits 63 and 62 clear, bit 0 set, an unowned count of at least 1 in bits 1 to 31)
 * or in a side table (both set). The two addresses that the allocator's lists leave in a block are
 * none: bit 0 is clear. Other blocks may look so all the same.
 *
 * size  as the allocator has just told it: it has read what lies in front of the block. Where that
 * is on another page, the host may have protected the block's own (a stack with a guard). */
static inline bool mt_is_like_swift_object(const void *block, size_t size) {
    if (size < 2 * sizeof(uint64_t))
        return false;
    bool begins_page = (uintptr_t)block % MT_PAGE_SIZE < 2 * sizeof(uint64_t);
    if (begins_page && !mt_os_is_readable((uintptr_t)block))
        return false;
    const uint64_t *words = block;
    uint64_t metadata = words[0], counts = words[1];
    if (metadata < 4096 || (metadata & 7) != 0 || metadata >> 47 != 0)
        return false;
    return counts >> 62 == 3 ||
           (counts >> 62 == 0 && (counts & 1) != 0 && (counts & 0xfffffffe) != 0);
}

#endif
