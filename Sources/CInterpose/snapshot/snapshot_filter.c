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

/* Where words may lead to on behalf of a mapping: arrays that grow without moving are found by
 * words that lead in front of their parts, by as many bytes as these have. Not where numbers lead
 * to. */
static uint64_t reach(const struct mt_region *region) {
    uint64_t size = region->end - region->start;
    if (region->start < MT_FILTER_REACH)
        return region->start;
    return region->start - MT_FILTER_REACH < size ? MT_FILTER_REACH : region->start - size;
}

void mt_pointer_filter_make(struct mt_pointer_filter *filter, const struct mt_region_list *list,
                            struct mt_span *spans) {
    memset(filter, 0, sizeof *filter);
    filter->spans = spans;
    for (size_t i = 0; i < list->count; i++) {
        const struct mt_region *region = &list->regions[i];
        if (!region->is_target)
            continue;
        uint64_t start = reach(region);
        /* The reach of a large mapping covers whole ones below it. */
        while (filter->count > 0 && spans[filter->count - 1].start >= start)
            filter->count--;
        struct mt_span *last = filter->count ? &spans[filter->count - 1] : NULL;
        if (last && last->start + last->size >= start)
            last->size = region->end - last->start;
        else
            spans[filter->count++] = (struct mt_span){start, region->end - start};
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
