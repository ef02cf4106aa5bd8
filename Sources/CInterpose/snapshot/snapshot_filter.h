/* Which words can be pointers into the process's mappings. */
#ifndef MT_SNAPSHOT_FILTER_H
#define MT_SNAPSHOT_FILTER_H

#include "snapshot/snapshot_regions.h"

struct mt_span {
    uint64_t start;
    uint64_t size;
};

enum { MT_FILTER_CLUSTERS = 8 };

/* The mappings that a pointer may point to, joined where they touch; and clusters of them, far
 * apart, which most words that are no pointers miss. */
struct mt_pointer_filter {
    struct mt_span *spans; /* ascending */
    size_t count;
    struct mt_span *last; /* the one hit last */
    uint64_t lowest;
    struct mt_span clusters[MT_FILTER_CLUSTERS];
    size_t cluster_count;
};

/* Makes a filter of the mappings that words may point into. No allocation.
 *
 * spans  room for list->count; stays the filter's */
void mt_pointer_filter_make(struct mt_pointer_filter *filter, const struct mt_region_list *list,
                            struct mt_span *spans);

bool mt_pointer_filter_search(struct mt_pointer_filter *filter, uint64_t address);

static inline bool mt_pointer_filter_hits(struct mt_pointer_filter *filter, uint64_t address) {
    for (size_t i = 0; i < filter->cluster_count; i++)
        if (address - filter->clusters[i].start < filter->clusters[i].size)
            return address - filter->last->start < filter->last->size ||
                   mt_pointer_filter_search(filter, address);
    return false;
}

/* True when the word points into a mapping: as it is, as a Swift object's word that holds a side
 * table, or without the tags that Swift and others put into spare bits. */
static inline bool mt_word_can_point(struct mt_pointer_filter *filter, uint64_t word) {
    if (word < filter->lowest)
        return false;
    uint64_t untagged = word & 0x00007ffffffffff8u;
    if (mt_pointer_filter_hits(filter, untagged))
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

#endif
