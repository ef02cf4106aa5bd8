/* Where the recorder's own mappings are, so that a snapshot leaves them out: they hold addresses of
 * blocks that the host does not. The kernel's list does not tell, it joins neighbours. */
#ifndef MT_OWN_MEMORY_H
#define MT_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_own_range {
    uintptr_t start;
    uintptr_t end;
};

enum mt_own_kind {
    MT_OWN_PAGES = 0,  /* memory, which a forked child inherits */
    MT_OWN_WINDOW = 1, /* a window of the trace, which it does not */
    MT_OWN_GUARDED = 2 /* memory, with a page below it that nobody may touch */
};

/* Notes a mapping; forgets one. Lock-free, async-signal-safe. What finds no room (more than
 * MT_OWN_RANGES at a time) is not left out of snapshots.
 *
 * returns  whether there was room; whether it was noted as MT_OWN_GUARDED */
bool mt_own_memory_add(const void *address, size_t length, enum mt_own_kind kind);
void mt_own_memory_remove(const void *address);
bool mt_own_memory_remove_guarded(const void *address);

/* In a forked child, which has no windows of its parent's trace: the host may use these addresses
 * for memory of its own. */
void mt_own_memory_after_fork(void);

/* Calls a function for each of them, with the recorder's image. */
void mt_own_memory_visit(void (*visit)(uintptr_t start, uintptr_t end));

/* Whether a range of addresses has some of the recorder's. */
bool mt_own_memory_overlaps(uintptr_t start, uintptr_t end);

#define MT_OWN_RANGES 16384u

/* Copies the mappings, with the recorder's image, in ascending order.
 * ranges   room for MT_OWN_RANGES + 1
 * returns  how many */
size_t mt_own_memory_list(struct mt_own_range *ranges);

#endif
