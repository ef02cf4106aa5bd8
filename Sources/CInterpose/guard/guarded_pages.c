/* See guarded_pages.h. */
#include "guard/guarded_pages.h"

#include "base/os.h"
#include "base/os_threads.h"

enum {
    SEARCHED = 1 << 16, /* pages looked at for a run: a tenth of a millisecond */
    TURNS = 1000,       /* of others, for the one who has the lock */
    NAPS = 1000,        /* after those, as it may be waiting for a processor */
    NAP_NS = 1000000,
    VISIT_TURNS = 100000
};

enum state {
    NEVER_USED = 0,
    LIVE,
    VISITED, /* live, and not to be ended at the moment */
    ENDING,  /* somebody has taken it; for ever, when its pages cannot be used again */
    FREED
};

/* What is known of a run stands at its first page, in front of which no other one lies in it. */
struct mt_guarded_page {
    uint64_t size;
    uint32_t back;   /* pages to the first one of its run */
    uint16_t offset; /* of the block in the first page */
    uint16_t state;
};
_Static_assert(sizeof(struct mt_guarded_page) == 16, "four of them in a cache line");

bool mt_guarded_pages_begin(struct mt_guarded_pages *pages, uint64_t bytes, uint32_t most_live,
                            bool may_guard) {
    uint64_t count = bytes / MT_PAGE_SIZE;
    struct mt_guarded_page *known = mt_os_map_pages(count * sizeof *known);
    *pages = (struct mt_guarded_pages){.pages = known, .most_live = most_live};
    if (known && mt_page_range_begin(&pages->range, count, may_guard))
        return true;
    if (known)
        mt_os_unmap_pages(known, count * sizeof *known);
    return false;
}

/* ---- Runs ---- */

static uint64_t data_pages(const struct mt_guarded_page *first) {
    uint64_t size = first->size ? first->size : 1;
    return (first->offset + size + MT_PAGE_SIZE - 1) / MT_PAGE_SIZE;
}

static uint16_t state_of(const struct mt_guarded_page *first) {
    return __atomic_load_n(&first->state, __ATOMIC_ACQUIRE);
}

/* The first page of the run that a page is in; NULL where it is in none, any more or yet. */
static struct mt_guarded_page *run_of(const struct mt_guarded_pages *pages, uint64_t index) {
    uint32_t back = pages->pages[index].back;
    struct mt_guarded_page *first = &pages->pages[index - (back <= index ? back : 0)];
    bool is_in_it = first->back == 0 && back <= data_pages(first);
    return state_of(first) != NEVER_USED && is_in_it ? first : NULL;
}

static uint64_t index_of(const struct mt_guarded_pages *pages, const struct mt_guarded_page *page) {
    return (uint64_t)(page - pages->pages);
}

static uintptr_t address_of(const struct mt_guarded_pages *pages, uint64_t index) {
    return pages->range.start + index * MT_PAGE_SIZE;
}

static bool is_live(uint16_t state) {
    return state == LIVE || state == VISITED;
}

static struct mt_guarded_block block_of(const struct mt_guarded_pages *pages,
                                        const struct mt_guarded_page *first) {
    return (struct mt_guarded_block){address_of(pages, index_of(pages, first)) + first->offset,
                                     first->size, is_live(state_of(first))};
}

static bool is_unused(const struct mt_guarded_page *first) {
    return !first || state_of(first) == FREED;
}

/* Where the last run ends that is in use and has one of these pages; 0: there is none. */
static uint64_t end_of_used(const struct mt_guarded_pages *pages, uint64_t index, uint64_t count) {
    for (uint64_t at = index + count; at-- > index;) {
        const struct mt_guarded_page *first = run_of(pages, at);
        if (!is_unused(first))
            return index_of(pages, first) + data_pages(first) + 1;
    }
    return 0;
}

/* So many pages that are not in use. Under the lock. */
static bool find_run(struct mt_guarded_pages *pages, uint64_t count, uint64_t *index) {
    uint64_t at = pages->next, searched = 0;
    while (searched < SEARCHED) {
        if (at + count > pages->range.count)
            at = 0;
        uint64_t end = end_of_used(pages, at, count);
        if (end == 0) {
            *index = at;
            pages->next = at + count;
            if (pages->used < pages->next)
                pages->used = pages->next;
            return true;
        }
        searched += end - at;
        at = end;
    }
    return false;
}

/* ---- Allocation ---- */

/* Bytes from the block's start to the end of its last page; in front: that it needs at least. */
static size_t room_of(const struct mt_guarded_pages *pages, size_t size, size_t alignment) {
    if (pages->is_front)
        return size ? size : 1;
    size_t room = (size + alignment - 1) & -alignment;
    return room ? room : alignment;
}

/* Under the lock. The state comes last: until then the pages are in no run. */
static struct mt_guarded_page *make_run(struct mt_guarded_pages *pages, uint64_t index,
                                        uint64_t count, size_t size, size_t room) {
    struct mt_guarded_page *first = &pages->pages[index];
    __atomic_store_n(&first->state, NEVER_USED, __ATOMIC_RELEASE);
    for (uint64_t i = 0; i <= count; i++)
        first[i].back = (uint32_t)i;
    first->size = size;
    first->offset = pages->is_front ? 0 : (uint16_t)(count * MT_PAGE_SIZE - room);
    __atomic_store_n(&first->state, ENDING, __ATOMIC_RELEASE);
    return first;
}

static void free_run(struct mt_guarded_pages *pages, struct mt_guarded_page *first) {
    __atomic_store_n(&first->state, FREED, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&pages->live, 1, __ATOMIC_RELAXED);
}

/* Under the lock: others have no business with pages that nobody has used before. */
static struct mt_guarded_page *open_run(struct mt_guarded_pages *pages, uint64_t count, size_t size,
                                        size_t room) {
    uint64_t index;
    if (pages->live >= pages->most_live || count >= pages->range.count ||
        !find_run(pages, count + 1, &index))
        return NULL;
    struct mt_guarded_page *first = make_run(pages, index, count, size, room);
    __atomic_fetch_add(&pages->live, 1, __ATOMIC_RELAXED);
    if (mt_page_range_open(&pages->range, index, count))
        return first;
    free_run(pages, first);
    return NULL;
}

static bool is_abandoned(const struct mt_guarded_pages *pages) {
    return __atomic_load_n(&pages->is_abandoned, __ATOMIC_RELAXED);
}

static bool yield_for_lock(struct mt_guarded_pages *pages) {
    for (int turn = 0; turn < TURNS; turn++) {
        if (mt_lock_try(&pages->lock))
            return true;
        mt_os_yield();
    }
    return false;
}

/* Who holds it may wait for a processor. Not for ever: in a forked child there may be nobody who
 * gives it back, and then nobody takes naps any more. */
static bool wait_for_lock(struct mt_guarded_pages *pages) {
    bool has_lock = yield_for_lock(pages);
    for (int nap = 0; !has_lock && nap < NAPS && !is_abandoned(pages); nap++) {
        mt_os_futex_wait_for(&pages->lock.word, 1, NAP_NS);
        has_lock = mt_lock_try(&pages->lock);
    }
    __atomic_store_n(&pages->is_abandoned, !has_lock, __ATOMIC_RELAXED);
    return has_lock;
}

void mt_guarded_pages_shorten(struct mt_guarded_pages *pages, uint64_t bytes) {
    uint64_t signals = mt_os_block_signals();
    if (wait_for_lock(pages)) {
        uint64_t count = bytes / MT_PAGE_SIZE;
        mt_page_range_shorten(&pages->range, count > pages->used ? count : pages->used);
        mt_lock_release(&pages->lock);
    }
    mt_os_restore_signals(signals);
}

void *mt_guarded_pages_allocate(struct mt_guarded_pages *pages, size_t size, size_t alignment,
                                void (*prepare)(const struct mt_guarded_block *block)) {
    uint64_t largest = pages->range.count * MT_PAGE_SIZE / MT_GUARDED_SHARE;
    if (size > largest || alignment > MT_PAGE_SIZE)
        return NULL;
    size_t room = room_of(pages, size, alignment);
    uint64_t count = (room + MT_PAGE_SIZE - 1) / MT_PAGE_SIZE;
    uint64_t signals = mt_os_block_signals();
    bool has_lock = wait_for_lock(pages);
    struct mt_guarded_page *first = has_lock ? open_run(pages, count, size, room) : NULL;
    if (has_lock)
        mt_lock_release(&pages->lock);
    mt_os_restore_signals(signals);
    if (!first)
        return NULL;
    struct mt_guarded_block block = block_of(pages, first);
    if (prepare)
        prepare(&block);
    __atomic_store_n(&first->state, LIVE, __ATOMIC_RELEASE);
    return (void *)block.address;
}

/* ---- The end of a block ---- */

static struct mt_guarded_page *run_that_begins(const struct mt_guarded_pages *pages,
                                               uintptr_t address) {
    if (!mt_guarded_pages_own(pages, address))
        return NULL;
    struct mt_guarded_page *first = run_of(pages, (address - pages->range.start) / MT_PAGE_SIZE);
    return first && block_of(pages, first).address == address ? first : NULL;
}

/* A visit is short, but who visits may have to wait for a processor. In a forked child there may be
 * nobody who ends it. */
static uint16_t state_after_visit(const struct mt_guarded_page *first) {
    uint16_t state = state_of(first);
    for (int turn = 0; mt_unlikely(state == VISITED) && turn < VISIT_TURNS; turn++) {
        mt_os_yield();
        state = state_of(first);
    }
    return state;
}

bool mt_guarded_pages_take(struct mt_guarded_pages *pages, uintptr_t address,
                           struct mt_guarded_block *block) {
    struct mt_guarded_page *first = run_that_begins(pages, address);
    if (!first)
        return false;
    uint16_t state = state_after_visit(first);
    while (is_live(state)) {
        if (__atomic_compare_exchange_n(&first->state, &state, ENDING, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            *block = block_of(pages, first);
            return true;
        }
        state = state_after_visit(first);
    }
    return false;
}

/* Where the kernel declines, the pages stay in use for ever. */
void mt_guarded_pages_close(struct mt_guarded_pages *pages, const struct mt_guarded_block *block) {
    struct mt_guarded_page *first = run_that_begins(pages, block->address);
    if (mt_page_range_close(&pages->range, index_of(pages, first), data_pages(first)))
        free_run(pages, first);
}

/* ---- Looking ---- */

bool mt_guarded_pages_find(const struct mt_guarded_pages *pages, uintptr_t address,
                           struct mt_guarded_block *block) {
    const struct mt_guarded_page *first = run_that_begins(pages, address);
    if (first)
        *block = block_of(pages, first);
    return first != NULL;
}

/* How far an address lies outside of a block. */
static uint64_t distance(const struct mt_guarded_block *block, uintptr_t address) {
    if (address < block->address)
        return block->address - address;
    uintptr_t end = block->address + block->size;
    return address < end ? 0 : address - end + 1;
}

/* The page in front of the range is the guard in front of its first one. */
static bool find_page(const struct mt_guarded_pages *pages, uintptr_t address, uint64_t *index) {
    uintptr_t before = pages->range.start - MT_PAGE_SIZE;
    uint64_t page = (address - before) / MT_PAGE_SIZE;
    *index = page ? page - 1 : 0;
    return address >= before && page <= pages->range.count;
}

bool mt_guarded_pages_nearest(const struct mt_guarded_pages *pages, uintptr_t address,
                              struct mt_guarded_block *block) {
    uint64_t index;
    if (!find_page(pages, address, &index))
        return false;
    const struct mt_guarded_page *own = run_of(pages, index);
    const struct mt_guarded_page *next =
        index + 1 < pages->range.count ? run_of(pages, index + 1) : NULL;
    if (!own && !next)
        return false;
    *block = block_of(pages, own ? own : next);
    if (own && next && own != next) {
        struct mt_guarded_block other = block_of(pages, next);
        if (distance(&other, address) < distance(block, address))
            *block = other;
    }
    return true;
}

static void visit_run(const struct mt_guarded_pages *pages, struct mt_guarded_page *first,
                      void (*visit)(const struct mt_guarded_block *block, void *context),
                      void *context) {
    uint16_t live = LIVE, visited = VISITED;
    if (!__atomic_compare_exchange_n(&first->state, &live, VISITED, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    struct mt_guarded_block block = block_of(pages, first);
    visit(&block, context);
    __atomic_compare_exchange_n(&first->state, &visited, LIVE, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
}

void mt_guarded_pages_visit(struct mt_guarded_pages *pages,
                            void (*visit)(const struct mt_guarded_block *block, void *context),
                            void *context) {
    uint64_t used = __atomic_load_n(&pages->used, __ATOMIC_RELAXED);
    for (uint64_t index = 0; index < used; index++)
        if (state_of(&pages->pages[index]) == LIVE && pages->pages[index].back == 0)
            visit_run(pages, &pages->pages[index], visit, context);
}

void mt_guarded_pages_after_fork(struct mt_guarded_pages *pages) {
    mt_lock_reset(&pages->lock);
    pages->is_abandoned = false;
}
