/* See snapshot_pages.h. */
#include "snapshot_pages.h"

#include "os_threads.h"
#include <fcntl.h>
#include <string.h>

/* https://docs.kernel.org/admin-guide/mm/pagemap.html */
#define MT_PAGE_IN_MEMORY (UINT64_C(1) << 63)
#define MT_PAGE_SWAPPED (UINT64_C(1) << 62)
#define MT_PAGE_OF_FILE (UINT64_C(1) << 61)

void mt_pages_open(struct mt_page_walker *walker) {
    walker->pagemap = (int)mt_os_open(MT_AT_CWD, "/proc/self/pagemap", O_RDONLY, 0);
}

void mt_pages_close(struct mt_page_walker *walker) {
    if (walker->pagemap >= 0)
        mt_os_close(walker->pagemap);
}

static bool has_entries(struct mt_page_walker *walker, uint64_t start, size_t count) {
    return walker->pagemap >= 0 && mt_os_pread(walker->pagemap, walker->entries, count * 8,
                                               start / MT_PAGE_SIZE * 8) == (long)(count * 8);
}

static void select_resident(struct mt_page_walker *walker, uint64_t start, size_t count,
                            bool *selected) {
    if (mt_os_resident(start, count * MT_PAGE_SIZE, walker->resident) < 0)
        memset(walker->resident, 1, count);
    for (size_t i = 0; i < count; i++)
        selected[i] = (walker->resident[i] & 1) && mt_os_is_readable(start + i * MT_PAGE_SIZE);
}

void mt_pages_select(struct mt_page_walker *walker, const struct mt_region *region, uint64_t start,
                     size_t count, bool *selected) {
    if (region->source == MT_PAGES_SHARED || !has_entries(walker, start, count)) {
        select_resident(walker, start, count, selected);
        return;
    }
    uint64_t unwanted = region->source == MT_PAGES_WRITTEN ? MT_PAGE_OF_FILE : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t entry = walker->entries[i];
        selected[i] = (entry & (MT_PAGE_IN_MEMORY | MT_PAGE_SWAPPED)) && !(entry & unwanted);
    }
}

void mt_pages_visit(struct mt_page_walker *walker, const struct mt_region *region,
                    mt_page_visitor *visit, void *context) {
    bool selected[MT_PAGE_BATCH];
    uint64_t next;
    for (uint64_t start = region->start; start < region->end; start = next) {
        size_t pages = (region->end - start) / MT_PAGE_SIZE;
        size_t count = pages < MT_PAGE_BATCH ? pages : MT_PAGE_BATCH;
        next = start + count * MT_PAGE_SIZE;
        if (count == 0)
            return;
        mt_pages_select(walker, region, start, count, selected);
        for (size_t i = 0; i < count; i++)
            if (selected[i])
                visit(start + i * MT_PAGE_SIZE, context);
    }
}
