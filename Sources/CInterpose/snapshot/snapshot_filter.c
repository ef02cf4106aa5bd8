/* See snapshot_filter.h. */
#include "snapshot/snapshot_filter.h"

#include <string.h>

static void add_to_slots(struct mt_pointer_filter *filter, const struct mt_span *span) {
    uint64_t end = span->start + span->size;
    for (uint64_t i = span->start >> MT_FILTER_SLOT_SHIFT; i < MT_FILTER_SLOTS; i++) {
        uint64_t first = i << MT_FILTER_SLOT_SHIFT, next = (i + 1) << MT_FILTER_SLOT_SHIFT;
        if (first >= end)
            return;
        struct mt_span *slot = &filter->slots[i];
        if (slot->size == 0)
            slot->start = first > span->start ? first : span->start;
        slot->size = (end < next ? end : next) - slot->start;
    }
}

void mt_pointer_filter_make(struct mt_pointer_filter *filter, const struct mt_region_list *list,
                            struct mt_span *spans) {
    memset(filter, 0, sizeof *filter);
    filter->spans = spans;
    for (size_t i = 0; i < list->count; i++) {
        const struct mt_region *region = &list->regions[i];
        struct mt_span *last = filter->count ? &spans[filter->count - 1] : NULL;
        if (!region->is_target)
            continue;
        if (last && last->start + last->size == region->start)
            last->size += region->end - region->start;
        else
            spans[filter->count++] = (struct mt_span){region->start, region->end - region->start};
    }
    for (size_t i = 0; i < filter->count; i++)
        add_to_slots(filter, &spans[i]);
}

bool mt_pointer_filter_search(struct mt_pointer_filter *filter, uint64_t address) {
    size_t low = 0, high = filter->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (filter->spans[middle].start + filter->spans[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == filter->count || address < filter->spans[low].start)
        return false;
    *mt_pointer_filter_recent(filter, address) = filter->spans[low];
    return true;
}
