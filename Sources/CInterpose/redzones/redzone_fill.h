/* What lies behind a block: bytes that no program writes by chance, and whose words are no
 * addresses, so that following what was read from behind a block is a fault. */
#ifndef MT_REDZONE_FILL_H
#define MT_REDZONE_FILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MT_REDZONE_BYTE = 0xfb };

/* Where a zone was changed: from its first changed byte to the end of its last one. */
struct mt_redzone_damage {
    size_t offset;
    size_t length; /* 0: nowhere */
};

static inline void mt_redzone_fill(uintptr_t zone, size_t size) {
    __builtin_memset((void *)zone, MT_REDZONE_BYTE, size);
}

/* Whether none of it was changed: fast where it is long. */
static inline bool mt_redzone_is_intact(uintptr_t zone, size_t size) {
    const uint8_t *bytes = (const uint8_t *)zone;
    return size == 0 ||
           (bytes[0] == MT_REDZONE_BYTE && __builtin_memcmp(bytes, bytes + 1, size - 1) == 0);
}

static inline struct mt_redzone_damage mt_redzone_compare(uintptr_t zone, size_t size) {
    const uint8_t *bytes = (const uint8_t *)zone;
    size_t first = 0, end = size;
    while (first < end && bytes[first] == MT_REDZONE_BYTE)
        first++;
    while (end > first && bytes[end - 1] == MT_REDZONE_BYTE)
        end--;
    return first == end ? (struct mt_redzone_damage){0}
                        : (struct mt_redzone_damage){first, end - first};
}

#endif
