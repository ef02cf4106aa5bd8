/* The mappings of the process, parted into those of the host and of the recorder. */
#ifndef MT_SNAPSHOT_REGIONS_H
#define MT_SNAPSHOT_REGIONS_H

#include "base/os.h"
#include "memtrace_snapshot.h"

/* How the pages of a kept mapping are read. */
enum mt_page_source {
    MT_PAGES_NOT_KEPT = 0,
    MT_PAGES_PRIVATE,  /* all that are in memory or swapped out */
    MT_PAGES_WRITTEN,  /* of a private file mapping: those the process has written to */
    MT_PAGES_SHARED,   /* each page is probed: a file may be shorter than its mapping */
    MT_PAGES_PROTECTED /* as PRIVATE, but no access is allowed: guards, and what was put aside */
};

struct mt_region {
    uint64_t start;
    uint64_t end;
    uint32_t source; /* enum mt_page_source */
    uint32_t is_target;
};

/* Whether there is something to read, and it can be read where it is. */
static inline bool mt_region_is_open(const struct mt_region *region) {
    return region->source != MT_PAGES_NOT_KEPT && region->source != MT_PAGES_PROTECTED;
}

/* Most mappings a process may have by default (vm.max_map_count), and as many parts again. */
#define MT_REGIONS_MAX 131072u

struct mt_region_list {
    struct mt_region *regions; /* ascending */
    size_t count;
    uint64_t skipped_bytes; /* writable, but too many to be listed, of a device, or locked */
};

/* Called for every region, in ascending order, while the list is made. */
typedef void mt_region_visitor(const struct mt_snapshot_region *region, const char *path);

/* Lists the mappings, into memory that mt_region_list_free gives back, also after an error.
 *
 * returns  0, -ENOENT ... where /proc/self/maps cannot be read, -ENOMEM
 * context  one caller at a time; async-signal-safe */
long mt_region_list_make(struct mt_region_list *list, mt_region_visitor *visit);
void mt_region_list_free(struct mt_region_list *list);

/* Bytes that a process has in memory, of which this is a copy, and the copy has not
 * (MADV_DONTFORK, MADV_WIPEONFORK).
 *
 * pid      of the process
 * returns  0 also where it may not be asked, or has ended
 * context  as above */
uint64_t mt_regions_not_copied(long pid);

#endif
