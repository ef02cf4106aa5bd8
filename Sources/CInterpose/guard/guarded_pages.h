/* Blocks that end where a page begins that nobody may touch, and that nobody may touch any more
 * once they are freed.
 *
 * One range of addresses, given out in runs of pages: those of the block, and the one behind it.
 * Who needs a run goes on where the last one ended, round and round, so that what was freed stays
 * out of reach as long as there are other addresses. What is known of the runs lies beside them.
 * Blocks are found and freed without a lock, since that may be asked in a signal handler. */
#ifndef MT_GUARDED_PAGES_H
#define MT_GUARDED_PAGES_H

#include "base/lock.h"
#include "guard/page_range.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MT_GUARDED_SHARE = 16 /* of all pages, for one block at most */
};

struct mt_guarded_page;

struct mt_guarded_pages {
    struct mt_page_range range;
    uint64_t next; /* the page that is tried first */
    uint64_t used; /* pages that have been in a run are among so many first ones */
    struct mt_guarded_page *pages;
    bool is_front;            /* whether blocks begin where their pages do */
    uint32_t live, most_live; /* blocks */
    struct mt_lock lock;      /* of `next`, `used`, and of what becomes live */
    bool is_abandoned;        /* the lock, as far as anybody knows */
};

struct mt_guarded_block {
    uintptr_t address;
    size_t size; /* requested bytes */
    bool is_live;
};

/* Reserves addresses.
 *
 * bytes      of them; a multiple of the page size
 * most_live  blocks there may be at a time
 * may_guard  as of mt_page_range_begin
 * returns    false when they cannot be had */
bool mt_guarded_pages_begin(struct mt_guarded_pages *pages, uint64_t bytes, uint32_t most_live,
                            bool may_guard);

/* Gives addresses back, as far as none of them has been used: so many bytes are kept at least. */
void mt_guarded_pages_shorten(struct mt_guarded_pages *pages, uint64_t bytes);

/* A block of zeros, whose last byte lies less than `alignment` bytes in front of a page that
 * cannot be touched; with `is_front` its first one right behind such a page.
 *
 * alignment  a power of two
 * prepare    called with the block before it is live, so that no visit comes first; or NULL
 * returns    NULL where there is no place for it, or the kernel declines */
void *mt_guarded_pages_allocate(struct mt_guarded_pages *pages, size_t size, size_t alignment,
                                void (*prepare)(const struct mt_guarded_block *block));

/* Whether an address is one of the range. */
static inline bool mt_guarded_pages_own(const struct mt_guarded_pages *pages, uintptr_t address) {
    return mt_page_range_owns(&pages->range, address);
}

/* Takes the live block that begins at an address: of several threads one gets it. It is still
 * there until mt_guarded_pages_close; without that its addresses are used no more.
 *
 * returns  false where none begins */
bool mt_guarded_pages_take(struct mt_guarded_pages *pages, uintptr_t address,
                           struct mt_guarded_block *block);

/* Puts a block that was taken out of reach, and gives its memory back to the kernel. */
void mt_guarded_pages_close(struct mt_guarded_pages *pages, const struct mt_guarded_block *block);

/* The block that begins at an address, live or freed last there. */
bool mt_guarded_pages_find(const struct mt_guarded_pages *pages, uintptr_t address,
                           struct mt_guarded_block *block);

/* The block that an address lies in; else the nearer one of the two beside it, live or freed.
 *
 * returns  false where neither is known */
bool mt_guarded_pages_nearest(const struct mt_guarded_pages *pages, uintptr_t address,
                              struct mt_guarded_block *block);

/* Calls visit for all live blocks, in ascending order. Blocks may come and go meanwhile; who takes
 * the one that is visited waits until that is over. */
void mt_guarded_pages_visit(struct mt_guarded_pages *pages,
                            void (*visit)(const struct mt_guarded_block *block, void *context),
                            void *context);

/* In a forked child, in which nobody holds the lock. */
void mt_guarded_pages_after_fork(struct mt_guarded_pages *pages);

#endif
