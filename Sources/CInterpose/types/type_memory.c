/* Careful reads. See type_memory.h. */
#include "types/type_memory.h"

#include "loader/image_map.h"
#include "types/type_slabs.h"
#include <string.h>

enum { PAGES = sizeof((struct mt_type_memory *)0)->pages / sizeof(uintptr_t) };

static bool is_page_known(const struct mt_type_memory *memory, uintptr_t page) {
    for (uint32_t i = 0; i < PAGES; i++)
        if (memory->pages[i] == page)
            return true;
    return false;
}

/* Naturally aligned values do not cross a page. */
static bool may_read(struct mt_type_memory *memory, uintptr_t address, size_t size) {
    uintptr_t page = address & ~(uintptr_t)(MT_PAGE_SIZE - 1);
    if (page == 0 || (address & (size - 1)))
        return false;
    if (!mt_image_map_contains(address) && !mt_type_slabs_contain(address))
        return false;
    if (is_page_known(memory, page))
        return true;
    if (!mt_os_is_readable(page))
        return false;
    memory->pages[memory->next++ % PAGES] = page;
    return true;
}

#define MT_DEFINE_READ(bits)                                                                       \
    bool mt_type_read##bits(struct mt_type_memory *memory, uintptr_t address,                      \
                            uint##bits##_t *value) {                                               \
        if (!may_read(memory, address, sizeof *value))                                             \
            return false;                                                                          \
        memcpy(value, (const void *)address, sizeof *value);                                       \
        return true;                                                                               \
    }
MT_DEFINE_READ(64)
MT_DEFINE_READ(32)
MT_DEFINE_READ(16)
MT_DEFINE_READ(8)
#undef MT_DEFINE_READ

bool mt_type_read_relative(struct mt_type_memory *memory, uintptr_t address, uintptr_t *target) {
    uint32_t distance;
    if (!mt_type_read32(memory, address, &distance))
        return false;
    *target = distance ? address + (uintptr_t)(intptr_t)(int32_t)distance : 0;
    return true;
}

long mt_type_read_string(struct mt_type_memory *memory, uintptr_t address, char *buffer,
                         size_t capacity) {
    for (size_t length = 0; length < capacity; length++) {
        uint8_t byte;
        if (!mt_type_read8(memory, address + length, &byte))
            return -1;
        buffer[length] = (char)byte;
        if (byte == 0)
            return (long)length;
    }
    return -1;
}
