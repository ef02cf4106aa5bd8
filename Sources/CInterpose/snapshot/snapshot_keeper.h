/* Which words of a page an image keeps: those that can be pointers, those that can be reference
 * counts of Swift objects, those of Python's that are never freed, and what of Swift's side tables,
 * slabs and tables, and of short strings of C++, reports read; or all.
 */
#ifndef MT_SNAPSHOT_KEEPER_H
#define MT_SNAPSHOT_KEEPER_H

#include "snapshot/snapshot_filter.h"

enum { MT_PAGE_WORDS = MT_PAGE_SIZE / 8, MT_PAGE_BLOCKS = MT_PAGE_WORDS / MT_FILTER_WORDS };

struct mt_keeper {
    struct mt_pointer_filter filter;
    bool keeps_all;
    uint64_t slab;       /* what begins a slab of a Swift task; 0 where there are none */
    uint64_t kept_end;   /* words below are kept, because of what stands in front of them */
    uint64_t other_half; /* page that begins with the second half of what can be a side table */
};

/* Begins with the first page of an image. No allocation.
 *
 * spans  room for list->count; stays the keeper's */
void mt_keeper_begin(struct mt_keeper *keeper, const struct mt_region_list *list,
                     struct mt_span *spans, bool keeps_all);

/* Selects the words of a page; pages ascend from call to call.
 *
 * words    the page itself, or a copy of it
 * kept     a bit for each word, that of the first the lowest in the first element; none is 0
 * returns  whether any is kept
 * context  where the image is written */
bool mt_keeper_select(struct mt_keeper *keeper, uint64_t page, const uint64_t *words,
                      uint64_t *kept);

#endif
