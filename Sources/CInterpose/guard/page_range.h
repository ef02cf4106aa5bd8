/* A range of pages that may not be touched, but for those that are opened.
 *
 * Linux 6.13 and later put guards into page tables. Elsewhere closed pages are mappings of their
 * own, of which a process may have 65,530 (vm.max_map_count), and which take three times as long to
 * change. */
#ifndef MT_PAGE_RANGE_H
#define MT_PAGE_RANGE_H

#include "base/os.h"

struct mt_page_range {
    uintptr_t start;
    uint64_t count;   /* pages */
    uint64_t guarded; /* so many first ones are writable, and those of them that are closed have
                         guards */
    bool has_guards;  /* the kernel knows them */
};

/* Reserves addresses, with a page in front of them that stays closed.
 *
 * may_guard  whether to use guards where the kernel has them
 * returns    false when they cannot be had */
bool mt_page_range_begin(struct mt_page_range *range, uint64_t count, bool may_guard);

/* Whether an address is one of the range. */
static inline bool mt_page_range_owns(const struct mt_page_range *range, uintptr_t address) {
    return address - range->start < range->count * MT_PAGE_SIZE;
}

/* Gives the addresses of all but so many first pages back. One caller at a time, as below. */
void mt_page_range_shorten(struct mt_page_range *range, uint64_t count);

/* Opens pages, which are closed, for reading and writing: they are zero. One caller at a time.
 *
 * returns  false where the kernel declines; then they are closed */
bool mt_page_range_open(struct mt_page_range *range, uint64_t first, uint64_t count);

/* Closes pages, and gives their memory back.
 *
 * returns  false where the kernel declines: then they must not be opened again */
bool mt_page_range_close(const struct mt_page_range *range, uint64_t first, uint64_t count);

#endif
