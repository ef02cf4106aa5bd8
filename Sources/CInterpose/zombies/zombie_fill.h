/* What a freed block is filled with: in each word the block's own address below MT_ZOMBIE_TAG.
 *
 * No address looks so: following one is a SIGSEGV, and the word, still in a register, tells which
 * block it came from. Bits 63 and 62 are set, so that the Swift runtime takes the reference count
 * of a freed object for the address of a side table, three bits further down, and follows it. */
#ifndef MT_ZOMBIE_FILL_H
#define MT_ZOMBIE_FILL_H

#include <stddef.h>
#include <stdint.h>

#define MT_ZOMBIE_TAG UINT64_C(0xdfdf000000000000)
#define MT_ZOMBIE_ADDRESS UINT64_C(0x0000ffffffffffff)
/* In the word of a block that is given back: a new block would be held by its own address. */
#define MT_ZOMBIE_NOBODY UINT64_C(0xdfdfdfdfdfdfdfdf)

/* Where a block was changed: from its first changed byte to its last one. */
struct mt_zombie_damage {
    size_t offset;
    size_t length; /* 0: nowhere */
};

static inline uint64_t mt_zombie_word(uintptr_t address) {
    return MT_ZOMBIE_TAG | (address & MT_ZOMBIE_ADDRESS);
}

/* size: a multiple of 8 */
static inline void mt_zombie_fill(uintptr_t address, size_t size, uint64_t word) {
    uint64_t *words = (uint64_t *)address;
    for (size_t i = 0; i < size / 8; i++)
        words[i] = word;
}

/* Compares a block with its word. */
static inline struct mt_zombie_damage mt_zombie_compare(uintptr_t address, size_t size) {
    const uint64_t *words = (const uint64_t *)address;
    uint64_t word = mt_zombie_word(address);
    size_t first = 0, end = size / 8;
    while (first < end && words[first] == word)
        first++;
    while (end > first && words[end - 1] == word)
        end--;
    if (first == end)
        return (struct mt_zombie_damage){0};
    /* Both machines are little-endian: the lowest byte of a word comes first. */
    size_t before = (size_t)__builtin_ctzll(words[first] ^ word) / 8;
    size_t behind = (size_t)__builtin_clzll(words[end - 1] ^ word) / 8;
    return (struct mt_zombie_damage){first * 8 + before, (end - first) * 8 - before - behind};
}

/* The block whose word a register holds, as it is or as the Swift runtime shifts it; 0: none. */
static inline uintptr_t mt_zombie_address_in(uint64_t value) {
    if ((value & ~MT_ZOMBIE_ADDRESS) == MT_ZOMBIE_TAG)
        return (uintptr_t)(value & MT_ZOMBIE_ADDRESS);
    if ((value >> 51) == (MT_ZOMBIE_TAG << 3) >> 51 && (value & 63) == 0)
        return (uintptr_t)(value >> 3 & MT_ZOMBIE_ADDRESS);
    return 0;
}

#endif
