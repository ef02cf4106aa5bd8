/* Which pages of a region are worth a look. */
#ifndef MT_SNAPSHOT_PAGES_H
#define MT_SNAPSHOT_PAGES_H

#include "snapshot/snapshot_regions.h"

enum { MT_PAGE_BATCH = 512 };

struct mt_page_walker {
    int pagemap;                     /* descriptor; -1 where the kernel does not let us */
    bool can_scan;                   /* the kernel finds touched pages on its own */
    bool skips_inherited;            /* those that mt_inherited_pages_are_known() is about */
    int memory;                      /* /proc/self/mem, or -1 */
    uint64_t entries[MT_PAGE_BATCH]; /* of /proc/self/pagemap */
    unsigned char resident[MT_PAGE_BATCH];
    uint64_t copy[MT_PAGE_SIZE / 8]; /* of a page that no access is allowed to */
};

void mt_pages_open(struct mt_page_walker *walker);
void mt_pages_close(struct mt_page_walker *walker);

/* Says for each of `count` pages, at most MT_PAGE_BATCH, whether it has to be read.
 *
 * A page that was never touched need not be: it reads as zeros, or as its file. Guards
 * (MADV_GUARD_INSTALL) must not be. Without pagemap (processes that are not dumpable) memory that
 * is swapped out counts as untouched. */
void mt_pages_select(struct mt_page_walker *walker, const struct mt_region *region, uint64_t start,
                     size_t count, bool *selected);

/* Whether a region has pages that have to be read. */
bool mt_pages_any(struct mt_page_walker *walker, const struct mt_region *region);

/* Called with the address of a page that has to be read, and its words: where it is, or a copy. */
typedef void mt_page_visitor(uint64_t page, const uint64_t *words, void *context);

/* Visits the pages of a region that have to be read, in ascending order.
 *
 * returns  whether all of them could be read */
bool mt_pages_visit(struct mt_page_walker *walker, const struct mt_region *region,
                    mt_page_visitor *visit, void *context);

#endif
