/* See own_memory.h. */
#include "base/own_memory.h"

#include "base/os.h"

/* start is 0 where a slot is free; it is stored last, and cleared first. The lowest bits of end,
 * which is a multiple of the page size, are the enum mt_own_kind. */
enum { KIND_BITS = 3 };

static struct mt_own_range g_ranges[MT_OWN_RANGES];
static uint32_t g_used; /* slots from here on have never been used */

/* The first and one past the last byte of libmemtrace.so, by the linker. */
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));

static bool take(struct mt_own_range *slot, uintptr_t start, uintptr_t end) {
    uintptr_t free_start = 0;
    /* 1 keeps others away while `end` is not there yet. */
    if (!__atomic_compare_exchange_n(&slot->start, &free_start, 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    slot->end = end;
    __atomic_store_n(&slot->start, start, __ATOMIC_RELEASE);
    return true;
}

bool mt_own_memory_add(const void *address, size_t length, enum mt_own_kind kind) {
    uintptr_t start = (uintptr_t)address;
    uintptr_t end = ((start + length + MT_PAGE_SIZE - 1) & ~(uintptr_t)(MT_PAGE_SIZE - 1)) | kind;
    uint32_t used = __atomic_load_n(&g_used, __ATOMIC_RELAXED);
    /* Windows come and go: the newest slots are the likeliest to be free. */
    for (uint32_t back = 1; back <= 8 && back <= used; back++)
        if (take(&g_ranges[used - back], start, end))
            return true;
    while ((used = __atomic_fetch_add(&g_used, 1, __ATOMIC_RELAXED)) < MT_OWN_RANGES)
        if (take(&g_ranges[used], start, end))
            return true;
    __atomic_store_n(&g_used, MT_OWN_RANGES, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < MT_OWN_RANGES; i++)
        if (g_ranges[i].start == 0 && take(&g_ranges[i], start, end))
            return true;
    return false;
}

static uint32_t used_slots(void) {
    uint32_t used = __atomic_load_n(&g_used, __ATOMIC_RELAXED);
    return used < MT_OWN_RANGES ? used : MT_OWN_RANGES;
}

/* Frees the slot of a mapping, if one of its kinds fits; whether there is such a one. */
static bool forget(const void *address, bool guarded_only) {
    for (uint32_t i = used_slots(); i-- > 0;)
        if (__atomic_load_n(&g_ranges[i].start, __ATOMIC_ACQUIRE) == (uintptr_t)address &&
            (!guarded_only || (g_ranges[i].end & MT_OWN_GUARDED))) {
            __atomic_store_n(&g_ranges[i].start, 0, __ATOMIC_RELEASE);
            return true;
        }
    return false;
}

void mt_own_memory_remove(const void *address) {
    forget(address, false);
}

bool mt_own_memory_remove_guarded(const void *address) {
    return forget(address, true);
}

void mt_own_memory_after_fork(void) {
    for (uint32_t i = 0; i < used_slots(); i++)
        if (g_ranges[i].end & MT_OWN_WINDOW)
            g_ranges[i].start = 0;
}

/* Shell sort: in place, no recursion, good enough for thousands. */
static void sort(struct mt_own_range *ranges, size_t count) {
    for (size_t step = count / 2; step > 0; step /= 2)
        for (size_t i = step; i < count; i++) {
            struct mt_own_range moved = ranges[i];
            size_t j = i;
            for (; j >= step && ranges[j - step].start > moved.start; j -= step)
                ranges[j] = ranges[j - step];
            ranges[j] = moved;
        }
}

/* What is in a slot; false when it is free. */
static bool range_in(uint32_t slot, struct mt_own_range *range) {
    uintptr_t start = __atomic_load_n(&g_ranges[slot].start, __ATOMIC_ACQUIRE);
    *range = (struct mt_own_range){start, g_ranges[slot].end & ~(uintptr_t)KIND_BITS};
    return start > 1;
}

static struct mt_own_range image(void) {
    uintptr_t page = MT_PAGE_SIZE - 1;
    return (struct mt_own_range){(uintptr_t)&__ehdr_start & ~page,
                                 ((uintptr_t)&_end + page) & ~page};
}

void mt_own_memory_visit(void (*visit)(uintptr_t start, uintptr_t end)) {
    struct mt_own_range range = image();
    visit(range.start, range.end);
    for (uint32_t i = 0; i < used_slots(); i++)
        if (range_in(i, &range))
            visit(range.start, range.end);
}

static bool overlaps(struct mt_own_range range, uintptr_t start, uintptr_t end) {
    return range.start < end && start < range.end;
}

bool mt_own_memory_overlaps(uintptr_t start, uintptr_t end) {
    struct mt_own_range range;
    for (uint32_t i = 0; i < used_slots(); i++)
        if (range_in(i, &range) && overlaps(range, start, end))
            return true;
    return overlaps(image(), start, end);
}

size_t mt_own_memory_list(struct mt_own_range *ranges) {
    size_t count = 0;
    for (uint32_t i = 0; i < used_slots(); i++)
        count += range_in(i, &ranges[count]);
    ranges[count++] = image();
    sort(ranges, count);
    return count;
}
