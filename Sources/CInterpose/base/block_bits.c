/* See block_bits.h. */
#include "base/block_bits.h"

enum {
    LEAF_SHIFT = 28,
    DIRECTORY_SIZE = 1 << (48 - LEAF_SHIFT),
    LEAF_BYTES = 1 << (LEAF_SHIFT - 6)
};

static uint64_t **g_directory;

bool mt_block_bits_begin(void) {
    g_directory = mt_os_map_pages(DIRECTORY_SIZE * sizeof *g_directory);
    return g_directory != NULL;
}

/* The word of a leaf that a block's bit is in. */
static uint64_t *word_in(uint64_t *leaf, const void *block) {
    return &leaf[((uintptr_t)block & ((1u << LEAF_SHIFT) - 1)) >> 9];
}

static uint64_t bit_of(const void *block) {
    return 1ull << ((uintptr_t)block >> 3 & 63);
}

/* NULL where no block has ever been. */
static uint64_t *leaf_of(const void *block) {
    return __atomic_load_n(&g_directory[(uintptr_t)block >> LEAF_SHIFT], __ATOMIC_ACQUIRE);
}

/* Of two threads that map a leaf at once, one gives up its own. */
static uint64_t *open_leaf(const void *block) {
    uint64_t *leaf = leaf_of(block);
    if (mt_likely(leaf != NULL))
        return leaf;
    uint64_t *fresh = mt_os_map_pages(LEAF_BYTES);
    if (!fresh)
        return NULL;
    if (__atomic_compare_exchange_n(&g_directory[(uintptr_t)block >> LEAF_SHIFT], &leaf, fresh,
                                    false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    mt_os_unmap_pages(fresh, LEAF_BYTES);
    return leaf;
}

bool mt_block_bits_set(const void *block) {
    uint64_t *leaf = open_leaf(block);
    if (mt_unlikely(!leaf))
        return false;
    __atomic_fetch_or(word_in(leaf, block), bit_of(block), __ATOMIC_RELEASE);
    return true;
}

bool mt_block_bits_test(const void *block) {
    uint64_t *leaf = leaf_of(block);
    return leaf && (__atomic_load_n(word_in(leaf, block), __ATOMIC_ACQUIRE) & bit_of(block));
}

bool mt_block_bits_clear(const void *block) {
    if (!mt_block_bits_test(block))
        return false;
    uint64_t bit = bit_of(block);
    return __atomic_fetch_and(word_in(leaf_of(block), block), ~bit, __ATOMIC_ACQ_REL) & bit;
}
