/* See guard.h. */
#include "guard/guard.h"

#include "base/moment.h"
#include "base/registers.h"
#include "base/text.h"
#include "events/hook.h"
#include "events/interrupted_stack.h"
#include "guard/guarded_pages.h"
#include "redzones/redzone_fill.h"
#include "trace/meta_writer.h"
#include <string.h>
#include <sys/resource.h>

#define ADDRESSES (UINT64_C(4) << 30)
enum {
    SHARE_OF_ADDRESSES = 8, /* of those that the process may have, where there is a limit */
    SHARE_OF_MAPPINGS = 4,  /* of those it may have; two for a block, where there are no guards */
    USUAL_MAPPINGS = 65530, /* vm.max_map_count, where it cannot be read */
    MOST_LIVE = 16384,      /* a page each at least: 64 MiB */
    FEWEST_LIVE = 16,
    STEPS = 16 /* from half of the room to all of it; each halves the chance */
};

static struct {
    bool is_on, is_resting;
    uint32_t records;
    uint64_t number; /* of blocks that chance has decided on */
    struct mt_guard_settings settings;
    struct mt_real real; /* the allocator's functions, or those of redzones and zombies, where
                            mt_real has ours */
    struct mt_guarded_pages pages;
} g_guard;

/* ---- Which blocks ---- */

/* The number of the block, spread over all bits: no pattern of the program meets it. */
static uint64_t next_random(void) {
    uint64_t number = __atomic_add_fetch(&g_guard.number, 1, __ATOMIC_RELAXED);
    uint64_t mixed = number * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
    return mixed ^ mixed >> 32;
}

/* How many times the chance of a block is halved, the fuller the more. */
static uint32_t halvings(void) {
    uint64_t live = __atomic_load_n(&g_guard.pages.live, __ATOMIC_RELAXED);
    uint64_t half = g_guard.pages.most_live / 2;
    return live < half ? 0 : (uint32_t)((live - half) * STEPS / half);
}

static bool is_chosen(size_t size) {
    if (!mt_number_ranges_contain(&g_guard.settings.sizes, size) ||
        __atomic_load_n(&g_guard.is_resting, __ATOMIC_RELAXED))
        return false;
    uint32_t times = halvings();
    if (g_guard.settings.every == 1 && times == 0)
        return true;
    uint64_t random = next_random();
    return random % g_guard.settings.every == 0 &&
           (random >> 32 & ((UINT64_C(1) << times) - 1)) == 0;
}

/* ---- The bytes of its pages that are not a block's ---- */

struct zone {
    uintptr_t start;
    size_t size;
};

static struct zone zone_behind(const struct mt_guarded_block *block) {
    uintptr_t start = block->address + block->size;
    uintptr_t end = block->address + (block->size ? block->size : 1);
    uintptr_t page_end = (end + MT_PAGE_SIZE - 1) & -(uintptr_t)MT_PAGE_SIZE;
    return (struct zone){start, page_end - start};
}

static struct zone zone_in_front(const struct mt_guarded_block *block) {
    uintptr_t page = block->address & -(uintptr_t)MT_PAGE_SIZE;
    return (struct zone){page, block->address - page};
}

static void fill(struct zone zone) {
    mt_redzone_fill(zone.start, zone.size);
}

static void fill_zones(const struct mt_guarded_block *block) {
    fill(zone_in_front(block));
    fill(zone_behind(block));
}

static bool is_intact(struct zone zone) {
    return mt_redzone_is_intact(zone.start, zone.size);
}

/* ---- Records ---- */

static bool may_record(void) {
    return mt_meta_may_write(&g_guard.records,
                             "further errors with guarded blocks are not recorded");
}

static void write_record(const struct mt_guarded_block *block, struct zone zone,
                         enum mt_overrun_kind kind) {
    struct mt_redzone_damage damage = mt_redzone_compare(zone.start, zone.size);
    if (damage.length == 0 || !may_record())
        return;
    struct mt_overrun_record record = {.time = mt_moment(),
                                       .thread = mt_tls.index,
                                       .kind = kind,
                                       .block = block->address,
                                       .size = block->size,
                                       .offset =
                                           (int64_t)(zone.start + damage.offset - block->address),
                                       .length = damage.length};
    struct mt_piece piece = {&record, sizeof record};
    mt_meta_write(MT_RECORD_OVERRUN, &piece, 1);
}

static void judge(const struct mt_guarded_block *block, enum mt_overrun_kind kind) {
    struct zone zones[] = {zone_in_front(block), zone_behind(block)};
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        if (mt_unlikely(!is_intact(zones[i])))
            write_record(block, zones[i], kind);
    }
}

/* ---- In place of the allocator's functions ---- */

static bool is_ours(const void *block) {
    return mt_guarded_pages_own(&g_guard.pages, (uintptr_t)block);
}

/* NULL: the allocator's to serve. */
static void *guarded(size_t size, size_t alignment) {
    if (!is_chosen(size))
        return NULL;
    if (alignment < g_guard.settings.alignment)
        alignment = g_guard.settings.alignment;
    return mt_guarded_pages_allocate(&g_guard.pages, size, alignment, fill_zones);
}

static void *allocate(size_t size) {
    void *block = guarded(size, 1);
    return block ? block : g_guard.real.malloc(size);
}

static void *allocate_zeroed(size_t count, size_t size) {
    size_t total;
    void *block = __builtin_mul_overflow(count, size, &total) ? NULL : guarded(total, 1);
    return block ? block : g_guard.real.calloc(count, size);
}

/* What makes no sense is the allocator's to refuse. */
static void *guarded_at(size_t alignment, size_t size) {
    bool is_power = alignment && (alignment & (alignment - 1)) == 0;
    return is_power && alignment <= MT_PAGE_SIZE ? guarded(size, alignment) : NULL;
}

static void *allocate_aligned(size_t alignment, size_t size) {
    void *block = guarded_at(alignment, size);
    return block ? block : g_guard.real.aligned_alloc(alignment, size);
}

static void *allocate_at(size_t alignment, size_t size) {
    void *block = guarded_at(alignment, size);
    return block ? block : g_guard.real.memalign(alignment, size);
}

static int allocate_into(void **result, size_t alignment, size_t size) {
    void *block = alignment % sizeof(void *) == 0 ? guarded_at(alignment, size) : NULL;
    if (!block)
        return g_guard.real.posix_memalign(result, alignment, size);
    *result = block;
    return 0;
}

static void *allocate_pages(size_t size) {
    void *block = guarded(size, MT_PAGE_SIZE);
    return block ? block : g_guard.real.valloc(size);
}

/* All of the last page is the program's. */
static void *allocate_whole_pages(size_t size) {
    size_t rounded;
    void *block = NULL;
    if (!__builtin_add_overflow(size, MT_PAGE_SIZE - 1, &rounded))
        block = guarded(rounded & -(size_t)MT_PAGE_SIZE, MT_PAGE_SIZE);
    return block ? block : g_guard.real.pvalloc(size);
}

/* A second free of a block is in the trace, and so is one of what lies inside of a block; the
 * program goes on. The allocator would look for its own words in front of the address, in pages
 * that nobody may touch. */
static void deallocate(void *block) {
    struct mt_guarded_block found;
    if (!is_ours(block)) {
        g_guard.real.free(block);
    } else if (mt_guarded_pages_take(&g_guard.pages, (uintptr_t)block, &found)) {
        judge(&found, MT_OVERRUN_AT_FREE);
        if (!__atomic_load_n(&g_guard.is_resting, __ATOMIC_RELAXED))
            mt_guarded_pages_close(&g_guard.pages, &found);
    }
}

static size_t usable_size(void *block) {
    struct mt_guarded_block found;
    if (!is_ours(block))
        return g_guard.real.malloc_usable_size(block);
    bool is_live = mt_guarded_pages_find(&g_guard.pages, (uintptr_t)block, &found) && found.is_live;
    return is_live ? found.size : 0;
}

/* From or to a guarded block. */
static void *move(void *block, size_t old_size, void *moved, size_t size) {
    if (!moved)
        return NULL;
    memcpy(moved, block, old_size < size ? old_size : size);
    deallocate(block);
    return moved;
}

/* One of the allocator's grows into a guarded one where its old size is known. */
static void *reallocate(void *block, size_t size) {
    if (!block)
        return allocate(size);
    if (is_ours(block)) {
        if (size)
            return move(block, usable_size(block), allocate(size), size);
        deallocate(block);
        return NULL;
    }
    void *moved = size && g_guard.real.malloc_usable_size ? guarded(size, 1) : NULL;
    if (!moved)
        return g_guard.real.realloc(block, size);
    return move(block, g_guard.real.malloc_usable_size(block), moved, size);
}

/* ---- Room ---- */

static uint64_t addresses(void) {
    uint64_t limit = mt_os_limit(RLIMIT_AS);
    uint64_t share = limit == UINT64_MAX ? ADDRESSES : limit / SHARE_OF_ADDRESSES;
    return (share < ADDRESSES ? share : ADDRESSES) & -(uint64_t)MT_PAGE_SIZE;
}

static uint32_t most_live(void) {
    char text[32];
    uint64_t mappings = USUAL_MAPPINGS;
    long length = mt_os_read_file("/proc/sys/vm/max_map_count", text, sizeof text);
    if (length > 0) {
        text[length - (text[length - 1] == '\n')] = 0;
        mt_text_parse_number(text, &mappings);
    }
    uint64_t live = mappings / SHARE_OF_MAPPINGS / 2;
    return (uint32_t)(live < MOST_LIVE ? live : MOST_LIVE);
}

bool mt_guard_begin(const struct mt_guard_settings *settings) {
    static const struct mt_real ours = {.malloc = allocate,
                                        .calloc = allocate_zeroed,
                                        .realloc = reallocate,
                                        .free = deallocate,
                                        .posix_memalign = allocate_into,
                                        .aligned_alloc = allocate_aligned,
                                        .memalign = allocate_at,
                                        .valloc = allocate_pages,
                                        .pvalloc = allocate_whole_pages,
                                        .malloc_usable_size = usable_size};
    uint32_t live = most_live();
    if (live < FEWEST_LIVE || !mt_guarded_pages_begin(&g_guard.pages, addresses(), live, true))
        return false;
    g_guard.settings = *settings;
    g_guard.pages.is_front = settings->is_front;
    g_guard.real = mt_real;
    g_guard.is_on = true;
    mt_real_replace(&ours);
    return true;
}

void mt_guard_heed_limit(void) {
    if (g_guard.is_on)
        mt_guarded_pages_shorten(&g_guard.pages, addresses());
}

/* The allocator may not have been asked for anything yet, and sets itself up when it is: with
 * system calls that a sandbox has no use for where blocks have been allocated before. */
void mt_guard_rest(void) {
    if (g_guard.is_on)
        g_guard.real.free(g_guard.real.malloc(1));
    __atomic_store_n(&g_guard.is_resting, true, __ATOMIC_RELAXED);
}

/* ---- All live blocks ---- */

/* Unless somebody has taken its memory away without freeing it. */
static bool can_look_at(struct zone zone) {
    uintptr_t last_word = (zone.start + zone.size - 1) & -(uintptr_t)sizeof(uint64_t);
    return zone.size && mt_os_is_readable(last_word);
}

/* What was written is told once. */
static bool needs_refill(struct zone zone) {
    return can_look_at(zone) && !is_intact(zone);
}

static void look(const struct mt_guarded_block *block, struct zone zone,
                 const enum mt_overrun_kind *kind) {
    if (!needs_refill(zone))
        return;
    if (kind)
        write_record(block, zone, *kind);
    fill(zone);
}

/* context  the kind; NULL: nothing is recorded */
static void look_at_live(const struct mt_guarded_block *block, void *context) {
    look(block, zone_in_front(block), context);
    look(block, zone_behind(block), context);
}

void mt_guard_check(enum mt_overrun_kind kind) {
    if (g_guard.is_on)
        mt_guarded_pages_visit(&g_guard.pages, look_at_live, &kind);
}

void mt_guard_after_fork(void) {
    if (!g_guard.is_on)
        return;
    mt_guarded_pages_after_fork(&g_guard.pages);
    mt_guarded_pages_visit(&g_guard.pages, look_at_live, NULL);
}

/* ---- What is stopped ---- */

void mt_guard_note_signal(int signal, uintptr_t address, const void *context) {
    struct mt_guarded_block block;
    if (!g_guard.is_on || !mt_guarded_pages_nearest(&g_guard.pages, address, &block) ||
        !may_record())
        return;
    struct mt_registers registers;
    mt_registers_read(&registers, context);
    struct mt_access_record record = {.block = block.address,
                                      .size = block.size,
                                      .address = address,
                                      .kind = mt_registers_access(context),
                                      .is_freed = !block.is_live,
                                      .signal = (uint32_t)signal,
                                      .stack = mt_interrupted_stack(&registers)};
    record.time = mt_moment();
    record.thread = mt_tls.index;
    struct mt_piece piece = {&record, sizeof record};
    mt_meta_write(MT_RECORD_ACCESS, &piece, 1);
}
