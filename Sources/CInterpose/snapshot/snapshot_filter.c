/* See snapshot_filter.h. */
#include "snapshot/snapshot_filter.h"

/* Farther apart than any two mappings of one kind: executable and heap, libraries and stacks. */
#define MT_CLUSTER_GAP (UINT64_C(1) << 38)

static void add_cluster(struct mt_pointer_filter *filter, const struct mt_span *span) {
    size_t count = filter->cluster_count;
    struct mt_span *last = count ? &filter->clusters[count - 1] : NULL;
    bool is_near = last && span->start - (last->start + last->size) < MT_CLUSTER_GAP;
    if (last && (is_near || count == MT_FILTER_CLUSTERS))
        last->size = span->start + span->size - last->start;
    else
        filter->clusters[filter->cluster_count++] = *span;
}

void mt_pointer_filter_make(struct mt_pointer_filter *filter, const struct mt_region_list *list,
                            struct mt_span *spans) {
    *filter = (struct mt_pointer_filter){.spans = spans};
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
        add_cluster(filter, &spans[i]);
    static struct mt_span none;
    filter->last = filter->count ? spans : &none;
    filter->lowest = filter->count ? spans[0].start : UINT64_MAX;
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
    filter->last = &filter->spans[low];
    return true;
}
