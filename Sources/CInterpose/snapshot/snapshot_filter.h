/* Which words can be pointers into the process's mappings. */
#ifndef MT_SNAPSHOT_FILTER_H
#define MT_SNAPSHOT_FILTER_H

#include "snapshot/snapshot_regions.h"

/* Of an address whose spare bits hold tags. */
#define MT_ADDRESS_BITS UINT64_C(0x00007ffffffffff8)

/* The lowest address in front of a mapping that words may lead to: most numbers are less. */
#define MT_FILTER_REACH (UINT64_C(1) << 32)

struct mt_span {
    uint64_t start;
    uint64_t size;
};

enum {
    MT_FILTER_WORDS = 64,
    MT_FILTER_SLOT_SHIFT = 38,
    MT_FILTER_SLOTS = 1 << (47 - MT_FILTER_SLOT_SHIFT),
    MT_FILTER_RECENT_SHIFT = 21,
    MT_FILTER_RECENT = 512,
};

/* The mappings that a pointer may point to, or in front of by as many bytes as they have, joined
 * where these touch. Most words that are no
 * pointers miss what their slot has; most that are hit what was hit last near there. */
struct mt_pointer_filter {
    struct mt_span *spans; /* ascending */
    size_t count;
    struct mt_span slots[MT_FILTER_SLOTS];   /* by the upper bits of an address: what has spans */
    struct mt_span recent[MT_FILTER_RECENT]; /* by its middle bits: a span; of any address, or 0 */
};

/* Makes a filter of the mappings that words may point into, or in front of. No allocation.
 *
 * spans  room for list->count; stays the filter's */
void mt_pointer_filter_make(struct mt_pointer_filter *filter, const struct mt_region_list *list,
                            struct mt_span *spans);

/* Searches the spans, and remembers the one that it finds. */
bool mt_pointer_filter_search(struct mt_pointer_filter *filter, uint64_t address);

static inline struct mt_span *mt_pointer_filter_recent(struct mt_pointer_filter *filter,
                                                       uint64_t address) {
    return &filter->recent[address >> MT_FILTER_RECENT_SHIFT & (MT_FILTER_RECENT - 1)];
}

static inline bool mt_pointer_filter_hits(struct mt_pointer_filter *filter, uint64_t address) {
    const struct mt_span *recent = mt_pointer_filter_recent(filter, address);
    return address - recent->start < recent->size || mt_pointer_filter_search(filter, address);
}

/* True when the word points into a mapping, or in front of one: as it is, as a Swift object's word
 * that holds a side table, or without the tags that Swift and others put into spare bits. */
static inline bool mt_word_can_point(struct mt_pointer_filter *filter, uint64_t word) {
    if (mt_pointer_filter_hits(filter, word & MT_ADDRESS_BITS))
        return true;
    return word >> 62 == 3 && mt_pointer_filter_hits(filter, word << 2 >> 2 << 3);
}

/* True when a word can be a Swift object's inline reference counts: bit 0 set, an unowned count of
 * at least 1, few strong references; or those of an object that lives for ever. */
static inline bool mt_word_can_count(uint64_t word) {
    uint64_t unowned = word >> 1 & 0x7fffffff, strong = word >> 33;
    return (word & 1) && unowned > 0 &&
           ((unowned < 1u << 20 && strong < 1u << 24) || (uint32_t)word == 0xffffffffu);
}

/* True when a word can be what counts for a std::shared_ptr (of libstdc++, or of Boost) that has no
 * owner any more: nothing in its lower half, a few weak references in the upper one. */
static inline bool mt_word_can_be_expired(uint64_t word) {
    return (uint32_t)word == 0 && word >> 32 > 0 && word >> 32 < 1u << 20;
}

/* True when a word can be what counts for such a std::shared_ptr that has owners: few of them in
 * the lower half, few weak references in the upper one, where all owners together are one. */
static inline bool mt_word_can_count_owners(uint64_t word) {
    return (uint32_t)word - 1 < (1u << 16) - 1 && (word >> 32) - 1 < (1u << 16) - 1;
}

/* True when a word can be what counts for an object of Python 3.12 that is never freed: the lower
 * half all ones, and nothing in the upper one (`_Py_IMMORTAL_REFCNT`, Include/object.h). */
static inline bool mt_word_is_immortal(uint64_t word) {
    return word == UINT32_MAX;
}

/* What can be told of MT_FILTER_WORDS words without a branch for each: a bit for each, that of the
 * first the lowest. */
struct mt_word_bits {
    uint64_t may_point; /* set where mt_word_can_point is true, and for few others */
    uint64_t zero;
    uint64_t odd;
};

static inline struct mt_word_bits mt_word_bits(const struct mt_pointer_filter *filter,
                                               const uint64_t *words) {
    struct mt_word_bits bits = {0};
    for (size_t i = MT_FILTER_WORDS; i-- > 0;) {
        uint64_t word = words[i], address = word & MT_ADDRESS_BITS;
        const struct mt_span *slot = &filter->slots[address >> MT_FILTER_SLOT_SHIFT];
        unsigned may_be_table = word >> 44 == 0xc0000; /* all above an address */
        unsigned is_in_slot = address - slot->start < slot->size;
        bits.may_point = 2 * bits.may_point + (is_in_slot | may_be_table);
        bits.zero = 2 * bits.zero + (word == 0);
        bits.odd = 2 * bits.odd + (word & 1);
    }
    return bits;
}

#endif
