/* A small set of blocks. See type_slabs.h. */
#include "types/type_slabs.h"

/* Few until the program is known to have Swift in it: they keep places of the sampler's table. */
enum { MOST_SLABS = 512, FEW_SLABS = 64 };

static struct {
    uint32_t count;
    uint32_t limit; /* 0: FEW_SLABS */
    uintptr_t blocks[MOST_SLABS];
} g_slabs;

bool mt_type_slabs_add(uintptr_t block) {
    uint32_t limit = g_slabs.limit ? g_slabs.limit : FEW_SLABS;
    if (g_slabs.count >= limit)
        return false;
    g_slabs.blocks[g_slabs.count++] = block;
    return true;
}

void mt_type_slabs_remove(uintptr_t block) {
    for (uint32_t i = 0; i < g_slabs.count; i++) {
        if (g_slabs.blocks[i] != block)
            continue;
        g_slabs.blocks[i] = g_slabs.blocks[--g_slabs.count];
        return;
    }
}

bool mt_type_slabs_contain(uintptr_t address) {
    uint32_t count = __atomic_load_n(&g_slabs.count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count; i++)
        if (address - __atomic_load_n(&g_slabs.blocks[i], __ATOMIC_RELAXED) < MT_TYPE_SLAB_SIZE)
            return true;
    return false;
}

void mt_type_slabs_expect_swift(void) {
    g_slabs.limit = MOST_SLABS;
}

bool mt_type_slabs_expects_swift(void) {
    return g_slabs.limit != 0;
}

uintptr_t mt_type_slabs_at(uint32_t number) {
    return number < g_slabs.count ? g_slabs.blocks[number] : 0;
}
