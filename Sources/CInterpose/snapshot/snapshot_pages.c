/* See snapshot_pages.h. */
#include "snapshot/snapshot_pages.h"

#include "base/os_threads.h"
#include "base/proc_maps.h"
#include "snapshot/inherited_pages.h"
#include "snapshot/pagemap.h"
#include <string.h>
#include <sys/ioctl.h>

/* Linux 6.7 and later find the next page of any length of memory at once. As in <linux/fs.h>, which
 * older systems have without it: https://docs.kernel.org/admin-guide/mm/pagemap.html */
struct scanned_range {
    uint64_t start, end, categories;
};

struct scan {
    uint64_t size, flags;
    uint64_t start, end, walk_end;
    uint64_t ranges, range_count, most_pages;
    uint64_t inverted, all_of, any_of, returned; /* categories */
};

#define MT_PAGEMAP_SCAN _IOWR('f', 16, struct scan)
enum { MT_SCAN_IN_MEMORY = 1 << 3, MT_SCAN_SWAPPED = 1 << 4 };

/* Regions from here on are searched for their next page first: where a terabyte is reserved and
 * hardly used, looking at the entry of every page takes seconds. */
enum { MT_WORTH_A_SCAN = 1 << 30 };

/* Of the heaps of glibc's arenas. */
enum { MT_HEAP_ALIGNMENT = 64 << 20 };

void mt_pages_open(struct mt_page_walker *walker) {
    walker->pagemap = (int)mt_proc_open_memory("pagemap");
    walker->can_scan = walker->pagemap >= 0;
    walker->skips_inherited = false;
    walker->memory = (int)mt_proc_open_memory("mem");
}

void mt_pages_close(struct mt_page_walker *walker) {
    if (walker->pagemap >= 0)
        mt_os_close(walker->pagemap);
    if (walker->memory >= 0)
        mt_os_close(walker->memory);
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

/* What counts as swapped out can be a guard (MADV_GUARD_INSTALL, with which glibc 2.42 ends the
 * stacks of threads) or a page that the hardware lost: whoever reads these is killed. Older kernels
 * do not tell which. */
static bool holds_data(const struct mt_region *region, uint64_t entry, uint64_t page) {
    if (entry & MT_PAGE_IN_MEMORY)
        return true;
    if (!(entry & MT_PAGE_SWAPPED) || (entry & MT_PAGE_IS_GUARD))
        return false;
    return region->source == MT_PAGES_PROTECTED || mt_os_is_readable(page);
}

/* The allocator's memory is told from other mappings by what its pieces begin with. */
static bool may_begin_heap(const struct mt_region *region, uint64_t page) {
    return page == region->start || page % MT_HEAP_ALIGNMENT == 0;
}

static bool is_skipped(const struct mt_page_walker *walker, const struct mt_region *region,
                       uint64_t entry, uint64_t page) {
    return walker->skips_inherited && region->source == MT_PAGES_PRIVATE &&
           mt_inherited_pages_share(entry) && !may_begin_heap(region, page);
}

void mt_pages_select(struct mt_page_walker *walker, const struct mt_region *region, uint64_t start,
                     size_t count, bool *selected) {
    if (region->source == MT_PAGES_SHARED || !has_entries(walker, start, count)) {
        select_resident(walker, start, count, selected);
        return;
    }
    uint64_t unwanted = region->source == MT_PAGES_WRITTEN ? MT_PAGE_OF_FILE : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t entry = walker->entries[i], page = start + i * MT_PAGE_SIZE;
        selected[i] = !(entry & unwanted) && holds_data(region, entry, page) &&
                      !is_skipped(walker, region, entry, page);
    }
}

/* The first page of a private region, from `start` on, that was ever touched, or one before it; the
 * end of the region where there is none. */
static uint64_t skip_untouched(struct mt_page_walker *walker, const struct mt_region *region,
                               uint64_t start) {
    if (!walker->can_scan || region->source == MT_PAGES_SHARED ||
        region->end - start < MT_WORTH_A_SCAN)
        return start;
    struct scanned_range first = {0};
    uint64_t categories = MT_SCAN_IN_MEMORY | MT_SCAN_SWAPPED;
    struct scan scan = {.size = sizeof scan,
                        .start = start,
                        .end = region->end,
                        .ranges = (uintptr_t)&first,
                        .range_count = 1,
                        .most_pages = 1,
                        .any_of = categories,
                        .returned = categories};
    long found = mt_os_ioctl(walker->pagemap, MT_PAGEMAP_SCAN, &scan);
    walker->can_scan = found >= 0;
    if (found < 0)
        return start;
    return found > 0 ? first.start : region->end;
}

/* The pages of a region that have to be read, in batches. */
struct batch {
    uint64_t start;
    size_t count;
    bool selected[MT_PAGE_BATCH];
};

static bool next_batch(struct mt_page_walker *walker, const struct mt_region *region,
                       struct batch *batch) {
    uint64_t start = batch->start + batch->count * MT_PAGE_SIZE;
    batch->start = skip_untouched(walker, region, start);
    size_t pages = (region->end - batch->start) / MT_PAGE_SIZE;
    batch->count = pages < MT_PAGE_BATCH ? pages : MT_PAGE_BATCH;
    if (batch->count == 0)
        return false;
    mt_pages_select(walker, region, batch->start, batch->count, batch->selected);
    return true;
}

bool mt_pages_any(struct mt_page_walker *walker, const struct mt_region *region) {
    struct batch batch = {.start = region->start};
    while (next_batch(walker, region, &batch))
        if (memchr(batch.selected, true, batch.count))
            return true;
    return false;
}

/* The kernel reads there what the process itself may not. NULL where it does not. */
static const uint64_t *copy_of(struct mt_page_walker *walker, uint64_t page) {
    bool is_read = walker->memory >= 0 &&
                   mt_os_pread(walker->memory, walker->copy, MT_PAGE_SIZE, page) == MT_PAGE_SIZE;
    return is_read ? walker->copy : NULL;
}

bool mt_pages_visit(struct mt_page_walker *walker, const struct mt_region *region,
                    mt_page_visitor *visit, void *context) {
    struct batch batch = {.start = region->start};
    bool is_open = region->source != MT_PAGES_PROTECTED, is_tried = false, is_whole = true;
    while (next_batch(walker, region, &batch))
        for (size_t i = 0; i < batch.count; i++) {
            if (!batch.selected[i])
                continue;
            uint64_t page = batch.start + i * MT_PAGE_SIZE;
            /* A protection key holds for all of a region, and /proc/self/maps does not tell
             * (pkeys(7)). */
            is_open = is_open && (is_tried || mt_os_is_readable(page));
            is_tried = true;
            const uint64_t *words = is_open ? (const uint64_t *)page : copy_of(walker, page);
            if (words)
                visit(page, words, context);
            is_whole = is_whole && words;
        }
    return is_whole;
}
