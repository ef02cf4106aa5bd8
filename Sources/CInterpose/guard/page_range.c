/* See page_range.h. */
#include "guard/page_range.h"

#include "base/locked_memory.h"
#include <sys/mman.h>

/* Pages that get guards at once. Not all of them: each has an entry in a page table then. */
enum { STEP = 512 };

static void *address_of(const struct mt_page_range *range, uint64_t page) {
    return (void *)(range->start + page * MT_PAGE_SIZE);
}

/* Makes pages writable, and puts guards into them, as far as they have none. */
static bool guard_up_to(struct mt_page_range *range, uint64_t end) {
    if (end <= range->guarded)
        return true;
    uint64_t first = range->guarded, next = (end + STEP - 1) / STEP * STEP;
    if (next > range->count)
        next = range->count;
    void *start = address_of(range, first);
    size_t length = (next - first) * MT_PAGE_SIZE;
    if (mt_os_protect(start, length, PROT_READ | PROT_WRITE) < 0)
        return false;
    if (mt_os_guard(start, length) < 0) {
        mt_os_protect(start, length, PROT_NONE);
        return false;
    }
    range->guarded = next;
    return true;
}

/* With the page in front. */
static void leave_unlocked(const struct mt_page_range *range) {
    mt_locked_memory_leave_out(range->start - MT_PAGE_SIZE,
                               (uintptr_t)address_of(range, range->count));
}

bool mt_page_range_begin(struct mt_page_range *range, uint64_t count, bool may_guard) {
    uint8_t *start = mt_os_reserve_addresses((count + 1) * MT_PAGE_SIZE);
    if (!start)
        return false;
    *range = (struct mt_page_range){.start = (uintptr_t)start + MT_PAGE_SIZE, .count = count};
    leave_unlocked(range);
    range->has_guards = may_guard && guard_up_to(range, 1);
    return true;
}

void mt_page_range_shorten(struct mt_page_range *range, uint64_t count) {
    uint64_t before = range->count;
    if (count >= before)
        return;
    /* From here on the others are anybody's. */
    __atomic_store_n(&range->count, count, __ATOMIC_RELEASE);
    if (range->guarded > count)
        range->guarded = count;
    leave_unlocked(range);
    mt_os_give_back_addresses(address_of(range, count), (before - count) * MT_PAGE_SIZE);
}

bool mt_page_range_open(struct mt_page_range *range, uint64_t first, uint64_t count) {
    void *start = address_of(range, first);
    size_t length = count * MT_PAGE_SIZE;
    if (range->has_guards)
        return guard_up_to(range, first + count) && mt_os_unguard(start, length) == 0;
    return mt_os_protect(start, length, PROT_READ | PROT_WRITE) == 0;
}

/* Locked memory takes no guards. */
bool mt_page_range_close(const struct mt_page_range *range, uint64_t first, uint64_t count) {
    void *start = address_of(range, first);
    size_t length = count * MT_PAGE_SIZE;
    if (range->has_guards && mt_os_guard(start, length) == 0)
        return true;
    return mt_os_forbid(start, length) && !range->has_guards;
}
