/* Which pages a forked process still has as it got them.
 *
 * No block that it allocated itself can be held by these: whoever stores a pointer writes to a
 * page, and gets a copy of it of its own. A child of a process of a gigabyte has a gigabyte, and
 * few pages of it are its own; there may be thousands of such children. */
#ifndef MT_INHERITED_PAGES_H
#define MT_INHERITED_PAGES_H

#include "base/os.h"
#include "snapshot/pagemap.h"

/* In the child of a fork, before it writes to much.
 *
 * context  makes no system call: there may be a filter that kills for it */
void mt_inherited_pages_begin(void);

/* Whether a private page of which /proc/self/pagemap says that others have it as well is as it was
 * when this process was forked, and no block of this process can be held by what is in there.
 *
 * pagemap  descriptor of /proc/self/pagemap
 * context  while no other thread runs; async-signal-safe */
bool mt_inherited_pages_are_known(int pagemap);

/* Whether an entry says that the page is in memory, and that others have it as well. */
static inline bool mt_inherited_pages_share(uint64_t entry) {
    return (entry & (MT_PAGE_IN_MEMORY | MT_PAGE_EXCLUSIVE)) == MT_PAGE_IN_MEMORY;
}

#endif
