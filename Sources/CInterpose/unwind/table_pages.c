/* Remembers pages of tables that can be read. See table_pages.h. */
#include "unwind/table_pages.h"

#include "loader/image_map.h"

enum { SLOTS = 256 };

/* By the page's number: its address, and in its low bits when that was asked. */
static uintptr_t g_readable[SLOTS];

static bool is_page_readable(uintptr_t page) {
    uint64_t generation = __atomic_load_n(&mt_image_map_generation, __ATOMIC_RELAXED);
    uintptr_t key = page | (generation & (MT_PAGE_SIZE - 1));
    uintptr_t *slot = &g_readable[page / MT_PAGE_SIZE % SLOTS];
    /* Nothing can be read at 0, which free slots hold. */
    if (page != 0 && __atomic_load_n(slot, __ATOMIC_RELAXED) == key)
        return true;
    if (!mt_os_is_readable(page))
        return false;
    __atomic_store_n(slot, key, __ATOMIC_RELAXED);
    return true;
}

const uint8_t *mt_table_readable_until(const uint8_t *start, const uint8_t *end) {
    uintptr_t address = (uintptr_t)start;
    if (end < start) /* a distance that leads past the last address */
        return start;
    while (address < (uintptr_t)end) {
        uintptr_t page = address & ~(uintptr_t)(MT_PAGE_SIZE - 1);
        if (!is_page_readable(page))
            break;
        address = page + MT_PAGE_SIZE;
    }
    return address < (uintptr_t)end ? (const uint8_t *)address : end;
}
