/* See block_sizes.h. */
#include "redzones/block_sizes.h"

#include "base/os.h"

enum {
    LEVEL = 1 << MT_SIZED_LEVEL_BITS,
    REGION = 1 << (MT_SIZED_REGION_BITS - MT_SIZED_ALIGNMENT_BITS),
    PAGE = MT_PAGE_SIZE / sizeof(uint32_t), /* sizes in a page */
    PATIENCE = 100000                       /* turns of others that a visit may take */
};

/* What is noted of an address: 0 nothing, VISITED, or the size and 1. */
#define VISITED UINT32_MAX
_Static_assert(MT_SIZED_MAX + 1 < VISITED, "sizes and what else a slot says differ");

struct mt_size_region {
    uint32_t sizes[REGION];
    uint64_t used[REGION / PAGE / 64]; /* a bit for each page of sizes that has been written to */
};

struct mt_size_level {
    struct mt_size_region *regions[LEVEL];
};

bool mt_block_sizes_begin(struct mt_block_sizes *sizes) {
    sizes->levels = mt_os_map_pages(LEVEL * sizeof *sizes->levels);
    return sizes->levels != NULL;
}

/* ---- From an address to its slot ---- */

struct place {
    size_t level, region, slot;
};

static bool has_place(uintptr_t address, struct place *place) {
    uint64_t bits = address;
    *place = (struct place){bits >> (MT_SIZED_REGION_BITS + MT_SIZED_LEVEL_BITS),
                            bits >> MT_SIZED_REGION_BITS & (LEVEL - 1),
                            bits >> MT_SIZED_ALIGNMENT_BITS & (REGION - 1)};
    return place->level < LEVEL && bits % (1 << MT_SIZED_ALIGNMENT_BITS) == 0;
}

static struct mt_size_region *region_at(const struct mt_block_sizes *sizes,
                                        const struct place *place) {
    struct mt_size_level *level = __atomic_load_n(&sizes->levels[place->level], __ATOMIC_ACQUIRE);
    return level ? __atomic_load_n(&level->regions[place->region], __ATOMIC_ACQUIRE) : NULL;
}

static uint32_t *slot_of(const struct mt_block_sizes *sizes, uintptr_t address) {
    struct place place;
    struct mt_size_region *region = has_place(address, &place) ? region_at(sizes, &place) : NULL;
    return region ? &region->sizes[place.slot] : NULL;
}

/* What a pointer leads to, or new memory there; NULL for want of it. */
static void *grown(void **pointer, size_t size) {
    void *found = __atomic_load_n(pointer, __ATOMIC_ACQUIRE);
    if (found)
        return found;
    void *fresh = mt_os_map_pages(size);
    if (!fresh || __atomic_compare_exchange_n(pointer, &found, fresh, false, __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE))
        return fresh;
    mt_os_unmap_pages(fresh, size);
    return found;
}

static struct mt_size_region *grown_region(struct mt_block_sizes *sizes,
                                           const struct place *place) {
    struct mt_size_level *level =
        grown((void **)&sizes->levels[place->level], sizeof(struct mt_size_level));
    return level ? grown((void **)&level->regions[place->region], sizeof(struct mt_size_region))
                 : NULL;
}

static void note_use(struct mt_size_region *region, size_t slot) {
    size_t page = slot / PAGE;
    uint64_t bit = UINT64_C(1) << page % 64, *word = &region->used[page / 64];
    if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
        __atomic_fetch_or(word, bit, __ATOMIC_RELEASE);
}

/* ---- One block ---- */

bool mt_block_size_put(struct mt_block_sizes *sizes, uintptr_t address, size_t size) {
    struct place place;
    if (size > MT_SIZED_MAX || !has_place(address, &place))
        return false;
    struct mt_size_region *region = grown_region(sizes, &place);
    if (!region)
        return false;
    note_use(region, place.slot);
    __atomic_store_n(&region->sizes[place.slot], (uint32_t)size + 1, __ATOMIC_RELEASE);
    return true;
}

/* A visit is short, but who visits may have to wait for a processor. In a forked child there may be
 * nobody who ends it: then nothing is known of the block from now on, and nobody waits for it
 * again. */
static uint32_t value_after_visit(uint32_t *slot) {
    uint32_t value = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    for (int turn = 0; mt_unlikely(value == VISITED) && turn < PATIENCE; turn++) {
        mt_os_yield();
        value = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    }
    if (value == VISITED &&
        __atomic_compare_exchange_n(slot, &value, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return 0;
    return value;
}

static bool is_size(uint32_t value, size_t *size) {
    *size = (size_t)value - 1;
    return value != 0 && value != VISITED;
}

bool mt_block_size_find(const struct mt_block_sizes *sizes, uintptr_t address, size_t *size) {
    uint32_t *slot = slot_of(sizes, address);
    return slot && is_size(value_after_visit(slot), size);
}

bool mt_block_size_take(struct mt_block_sizes *sizes, uintptr_t address, size_t *size) {
    uint32_t *slot = slot_of(sizes, address);
    if (!slot)
        return false;
    uint32_t value = value_after_visit(slot);
    while (value != 0 &&
           !__atomic_compare_exchange_n(slot, &value, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        value = value_after_visit(slot);
    return is_size(value, size);
}

/* ---- All of them ---- */

struct visit {
    bool (*visit)(uintptr_t address, size_t size, void *context);
    void *context;
};

static void visit_slot(const struct visit *visit, uint32_t *slot, uintptr_t address) {
    uint32_t value = __atomic_load_n(slot, __ATOMIC_RELAXED), visited = VISITED;
    size_t size;
    if (!is_size(value, &size) || !__atomic_compare_exchange_n(slot, &value, VISITED, false,
                                                               __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    uint32_t after = visit->visit(address, size, visit->context) ? value : 0;
    __atomic_compare_exchange_n(slot, &visited, after, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void visit_region(const struct visit *visit, struct mt_size_region *region,
                         uintptr_t start) {
    for (size_t page = 0; page < REGION / PAGE; page++) {
        uint64_t used = __atomic_load_n(&region->used[page / 64], __ATOMIC_ACQUIRE);
        if (!(used >> page % 64 & 1))
            continue;
        for (size_t slot = page * PAGE; slot < (page + 1) * PAGE; slot++)
            visit_slot(visit, &region->sizes[slot], start + (slot << MT_SIZED_ALIGNMENT_BITS));
    }
}

void mt_block_sizes_visit(struct mt_block_sizes *sizes,
                          bool (*visit)(uintptr_t address, size_t size, void *context),
                          void *context) {
    struct visit what = {visit, context};
    for (struct place place = {0}; place.level < LEVEL; place.level++)
        for (place.region = 0; place.region < LEVEL; place.region++) {
            if (!__atomic_load_n(&sizes->levels[place.level], __ATOMIC_ACQUIRE))
                break;
            struct mt_size_region *region = region_at(sizes, &place);
            if (region)
                visit_region(&what, region,
                             (place.level << MT_SIZED_LEVEL_BITS | place.region)
                                 << MT_SIZED_REGION_BITS);
        }
}
