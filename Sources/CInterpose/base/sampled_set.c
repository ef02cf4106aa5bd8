/* The live recorded blocks. See sampled_set.h. */
#include "base/sampled_set.h"

#include "base/block_bits.h"

#include <assert.h>

uint8_t mt_sampled_filter[MT_FILTER_SIZE];
uint8_t mt_sampled_fine_filter[MT_FILTER_SIZE];
MT_IDLE_AT_START(mt_sampled_filter);
MT_IDLE_AT_START(mt_sampled_fine_filter);
static const uint8_t g_never_zero = UINT8_MAX;
struct mt_sampled_view mt_sampled_view = {&g_never_zero, 0};

static bool g_is_dense;

/* In this order, for a free that comes in between. */
void mt_sampled_set_use(bool is_dense) {
    g_is_dense = is_dense && mt_block_bits_begin();
    __atomic_store_n(&mt_sampled_view.counters, mt_sampled_filter, __ATOMIC_RELEASE);
    __atomic_store_n(&mt_sampled_view.mask, MT_FILTER_SIZE - 1, __ATOMIC_RELEASE);
}

enum { BUCKET = 8, FIRST_BUCKETS_LOG2 = 6, LEVELS = 24 };

struct bucket {
    _Alignas(64) uintptr_t places[BUCKET]; /* 0: free */
};
static_assert(sizeof(struct bucket) == 64, "a bucket is a cache line");

static struct bucket *g_levels[LEVELS];

static void count_up(uint8_t *counter) {
    uint8_t value = __atomic_load_n(counter, __ATOMIC_RELAXED);
    do {
        if (value == UINT8_MAX)
            return;
    } while (!__atomic_compare_exchange_n(counter, &value, (uint8_t)(value + 1), true,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

static void count_down(uint8_t *counter) {
    uint8_t value = __atomic_load_n(counter, __ATOMIC_RELAXED);
    do {
        if (value == UINT8_MAX || value == 0)
            return;
    } while (!__atomic_compare_exchange_n(counter, &value, (uint8_t)(value - 1), true,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

static void count_in(const void *block) {
    count_up(mt_sampled_set_fine_counter(block));
    count_up(mt_sampled_set_counter(block));
}

static void count_out(const void *block) {
    count_down(mt_sampled_set_counter(block));
    count_down(mt_sampled_set_fine_counter(block));
}

/* ---- Bits ---- */

static bool is_bit(const void *block) {
    return g_is_dense && mt_block_bits_can_hold(block);
}

static bool insert_bit(const void *block) {
    mt_sampled_set_fill(mt_sampled_set_fine_counter(block));
    mt_sampled_set_fill(mt_sampled_set_counter(block));
    return mt_block_bits_set(block);
}

/* ---- Buckets ---- */

static size_t level_size(unsigned level) {
    return sizeof(struct bucket) << (FIRST_BUCKETS_LOG2 + level);
}

/* The level's buckets; mapped on demand. Of two threads that map it at once, one gives up its own.
 */
static struct bucket *open_level(unsigned level) {
    struct bucket *buckets = __atomic_load_n(&g_levels[level], __ATOMIC_ACQUIRE);
    if (mt_likely(buckets != NULL))
        return buckets;
    struct bucket *fresh = mt_os_map_pages(level_size(level));
    if (!fresh)
        return NULL;
    if (__atomic_compare_exchange_n(&g_levels[level], &buckets, fresh, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return fresh;
    mt_os_unmap_pages(fresh, level_size(level));
    return buckets;
}

/* The first (0) or second (1) bucket of an address in a level. */
static struct bucket *bucket_of(struct bucket *level, unsigned number, uintptr_t address,
                                unsigned choice) {
    uint64_t hash = (address >> 4) * (choice ? 0xbf58476d1ce4e5b9u : 0x9e3779b97f4a7c15u);
    return &level[hash >> (64 - FIRST_BUCKETS_LOG2 - number)];
}

/* Puts `desired` where `expected` was found. False when somebody else was faster. */
static bool exchange(uintptr_t *place, uintptr_t expected, uintptr_t desired) {
    return __atomic_compare_exchange_n(place, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/* A place of the two buckets of an address that holds `wanted`, the address or 0; NULL: none. */
static uintptr_t *place_in_level(struct bucket *level, unsigned number, uintptr_t address,
                                 uintptr_t wanted) {
    for (unsigned choice = 0; choice < 2; choice++) {
        struct bucket *bucket = bucket_of(level, number, address, choice);
        for (unsigned i = 0; i < BUCKET; i++)
            if (__atomic_load_n(&bucket->places[i], __ATOMIC_RELAXED) == wanted)
                return &bucket->places[i];
    }
    return NULL;
}

/* Where an address is; NULL when it is not in the set. */
static uintptr_t *find(uintptr_t address) {
    for (unsigned number = 0; number < LEVELS; number++) {
        struct bucket *level = __atomic_load_n(&g_levels[number], __ATOMIC_ACQUIRE);
        uintptr_t *place = level ? place_in_level(level, number, address, address) : NULL;
        if (place || !level)
            return place;
    }
    return NULL;
}

bool mt_sampled_set_search(const void *block) {
    return is_bit(block) ? mt_block_bits_test(block) : find((uintptr_t)block) != NULL;
}

bool mt_sampled_set_insert(const void *block) {
    if (is_bit(block))
        return insert_bit(block);
    uintptr_t address = (uintptr_t)block, *place;
    count_in(block);
    for (unsigned number = 0; number < LEVELS; number++) {
        struct bucket *level = open_level(number);
        if (!level)
            break;
        while ((place = place_in_level(level, number, address, 0)))
            if (exchange(place, 0, address))
                return true;
    }
    count_out(block);
    return false;
}

bool mt_sampled_set_remove(const void *block) {
    if (is_bit(block))
        return mt_block_bits_clear(block);
    uintptr_t address = (uintptr_t)block, *place;
    while ((place = find(address)))
        if (exchange(place, address, 0)) {
            count_out(block);
            return true;
        }
    return false;
}
