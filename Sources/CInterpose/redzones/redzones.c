/* See redzones.h. */
#include "redzones/redzones.h"

#include "base/moment.h"
#include "events/hook.h"
#include "redzones/block_sizes.h"
#include "redzones/redzone_fill.h"
#include "trace/meta_writer.h"

static struct {
    bool is_on;
    uint32_t records;
    size_t zone; /* bytes behind each block */
    struct mt_real
        real; /* the allocator's functions, or those of zombies, where mt_real has ours */
    struct mt_block_sizes sizes;
} g_redzones;

/* ---- Records ---- */

static void write_record(struct mt_overrun_record *record) {
    if (!mt_meta_may_write(&g_redzones.records,
                           "further writes past the ends of blocks are not recorded"))
        return;
    record->time = mt_moment();
    record->thread = mt_tls.index;
    struct mt_piece piece = {record, sizeof *record};
    mt_meta_write(MT_RECORD_OVERRUN, &piece, 1);
}

/* Records that a block was written past, where it was.
 *
 * returns  whether it was not */
static bool is_intact(uintptr_t block, size_t size, enum mt_overrun_kind kind) {
    struct mt_redzone_damage damage = mt_redzone_compare(block + size, g_redzones.zone);
    if (mt_likely(damage.length == 0))
        return true;
    struct mt_overrun_record record = {.kind = kind,
                                       .block = block,
                                       .size = size,
                                       .offset = (int64_t)(size + damage.offset),
                                       .length = damage.length};
    write_record(&record);
    return false;
}

/* ---- In place of the allocator's functions ---- */

/* Bytes to ask for. Of what cannot be had with a zone the allocator is asked without one: it says
 * what it always says. */
static bool fits_with_zone(size_t size, size_t *enlarged) {
    return !__builtin_add_overflow(size, g_redzones.zone, enlarged) && *enlarged <= PTRDIFF_MAX;
}

/* Filled first: who looks at all blocks looks at this one as soon as its size is noted. */
static void *with_zone(void *block, size_t size) {
    if (!block)
        return NULL;
    mt_redzone_fill((uintptr_t)block + size, g_redzones.zone);
    mt_block_size_put(&g_redzones.sizes, (uintptr_t)block, size);
    return block;
}

static void *allocate(size_t size) {
    size_t enlarged;
    void *block = fits_with_zone(size, &enlarged) ? g_redzones.real.malloc(enlarged) : NULL;
    return block ? with_zone(block, size) : g_redzones.real.malloc(size);
}

static void *allocate_zeroed(size_t count, size_t size) {
    size_t total, enlarged;
    void *block = NULL;
    if (!__builtin_mul_overflow(count, size, &total) && fits_with_zone(total, &enlarged))
        block = g_redzones.real.calloc(1, enlarged);
    return block ? with_zone(block, total) : g_redzones.real.calloc(count, size);
}

/* C11 wants a multiple of the alignment, and some allocators insist. */
static bool stays_multiple(size_t alignment, size_t size, size_t *enlarged) {
    if (alignment == 0 || (alignment & (alignment - 1)))
        return false; /* the allocator will say so */
    if (size % alignment == 0)
        *enlarged = (*enlarged + alignment - 1) & -alignment;
    return *enlarged >= size;
}

static void *allocate_aligned(size_t alignment, size_t size) {
    size_t enlarged;
    void *block = NULL;
    if (fits_with_zone(size, &enlarged) && stays_multiple(alignment, size, &enlarged))
        block = g_redzones.real.aligned_alloc(alignment, enlarged);
    return block ? with_zone(block, size) : g_redzones.real.aligned_alloc(alignment, size);
}

static void *allocate_at(size_t alignment, size_t size) {
    size_t enlarged;
    void *block =
        fits_with_zone(size, &enlarged) ? g_redzones.real.memalign(alignment, enlarged) : NULL;
    return block ? with_zone(block, size) : g_redzones.real.memalign(alignment, size);
}

static int allocate_into(void **result, size_t alignment, size_t size) {
    size_t enlarged;
    if (fits_with_zone(size, &enlarged) &&
        g_redzones.real.posix_memalign(result, alignment, enlarged) == 0) {
        with_zone(*result, size);
        return 0;
    }
    return g_redzones.real.posix_memalign(result, alignment, size);
}

static void *allocate_pages(size_t size) {
    size_t enlarged;
    void *block = fits_with_zone(size, &enlarged) ? g_redzones.real.valloc(enlarged) : NULL;
    return block ? with_zone(block, size) : g_redzones.real.valloc(size);
}

/* All of the last page is the program's. */
static void *allocate_whole_pages(size_t size) {
    size_t rounded, enlarged;
    if (__builtin_add_overflow(size, MT_PAGE_SIZE - 1, &rounded))
        return g_redzones.real.pvalloc(size);
    rounded &= ~(size_t)(MT_PAGE_SIZE - 1);
    void *block = fits_with_zone(rounded, &enlarged) ? g_redzones.real.pvalloc(enlarged) : NULL;
    return block ? with_zone(block, rounded) : g_redzones.real.pvalloc(size);
}

/* What was allocated elsewhere, or before, has no zone. */
static bool look_and_forget(void *block, size_t *size) {
    bool has_zone = mt_block_size_take(&g_redzones.sizes, (uintptr_t)block, size);
    if (has_zone)
        is_intact((uintptr_t)block, *size, MT_OVERRUN_AT_FREE);
    return has_zone;
}

static void deallocate(void *block) {
    size_t size;
    if (block)
        look_and_forget(block, &size);
    g_redzones.real.free(block);
}

/* Forgotten before, since the old place may be somebody else's at once. */
static void *move(void *block, size_t size) {
    size_t old_size, enlarged;
    bool had_zone = look_and_forget(block, &old_size);
    void *moved = fits_with_zone(size, &enlarged) ? g_redzones.real.realloc(block, enlarged) : NULL;
    if (moved)
        return with_zone(moved, size);
    moved = g_redzones.real.realloc(block, size);
    if (!moved && had_zone)
        with_zone(block, old_size);
    return moved;
}

static void *reallocate(void *block, size_t size) {
    size_t old_size;
    if (!block)
        return allocate(size);
    if (size)
        return move(block, size);
    look_and_forget(block, &old_size);
    return g_redzones.real.realloc(block, 0);
}

/* A program may use all that it is told of. */
static size_t usable_size(void *block) {
    size_t size;
    if (block && mt_block_size_find(&g_redzones.sizes, (uintptr_t)block, &size))
        return size;
    return g_redzones.real.malloc_usable_size(block);
}

bool mt_redzones_begin(uint64_t bytes) {
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
    if (!mt_block_sizes_begin(&g_redzones.sizes))
        return false;
    g_redzones.zone = bytes;
    g_redzones.real = mt_real;
    g_redzones.is_on = true;
    mt_real_replace(&ours);
    return true;
}

/* ---- All live blocks ---- */

struct look {
    enum mt_overrun_kind kind;
    uintptr_t readable; /* the page that was seen to be so last */
};

static bool can_read(struct look *look, uintptr_t first, uintptr_t last) {
    for (uintptr_t page = first & ~(uintptr_t)(MT_PAGE_SIZE - 1); page <= last;
         page += MT_PAGE_SIZE) {
        if (page != look->readable && !mt_os_is_readable(page))
            return false;
        look->readable = page;
    }
    return true;
}

/* A live block lies where it lay, unless somebody has taken its memory away without freeing it. */
static bool can_look(struct look *look, uintptr_t block, size_t size) {
    uintptr_t zone = block + size;
    return can_read(look, zone, zone + g_redzones.zone - 1);
}

static bool look_at_live(uintptr_t block, size_t size, void *context) {
    struct look *look = context;
    return can_look(look, block, size) && is_intact(block, size, look->kind);
}

static bool look_after_fork(uintptr_t block, size_t size, void *context) {
    return can_look(context, block, size) &&
           mt_redzone_compare(block + size, g_redzones.zone).length == 0;
}

void mt_redzones_after_fork(void) {
    struct look look = {0};
    if (g_redzones.is_on)
        mt_block_sizes_visit(&g_redzones.sizes, look_after_fork, &look);
}

void mt_redzones_check(enum mt_overrun_kind kind) {
    struct look look = {.kind = kind};
    if (g_redzones.is_on)
        mt_block_sizes_visit(&g_redzones.sizes, look_at_live, &look);
}
