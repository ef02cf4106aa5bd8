/* See shortage.h. */
#include "shortage/shortage.h"

#include "base/tls.h"
#include "loader/real.h"
#include <errno.h>

static struct {
    bool has_limit;
    struct mt_shortage_settings settings;
    uint64_t number;     /* of the allocation that came last */
    int64_t live;        /* bytes, as far as they were allocated here */
    struct mt_real real; /* the allocator's functions, or what stands in front of them */
} g_shortage;

/* Of the calling thread's last allocation, and whether the next one is the same once more. */
static __thread struct { bool has_failed, repeats; } g_last;

/* ---- Which allocations ---- */

/* What the recorder does for itself does not fail, and is not counted. */
static bool is_own(void) {
    return mt_tls.is_own || mt_tls.passes;
}

static bool is_chosen(void) {
    uint64_t number = __atomic_add_fetch(&g_shortage.number, 1, __ATOMIC_RELAXED);
    return mt_number_ranges_contain(&g_shortage.settings.numbers, number);
}

/* more  bytes that there would be */
static bool is_too_much(size_t more) {
    if (!g_shortage.has_limit)
        return false;
    int64_t live = __atomic_load_n(&g_shortage.live, __ATOMIC_RELAXED);
    uint64_t used = live > 0 ? (uint64_t)live : 0, limit = g_shortage.settings.limit;
    return more > limit || used > limit - more;
}

/* Whether an allocation is to fail that would make so many bytes more. */
static bool fails(size_t more) {
    if (is_own())
        return false;
    bool is_failing = g_last.repeats;
    if (!is_failing)
        is_failing = is_chosen() || is_too_much(more);
    g_last.repeats = false;
    g_last.has_failed = is_failing;
    return is_failing;
}

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

void mt_shortage_repeat(void) {
    g_last.repeats = g_last.has_failed;
}

/* ---- Live bytes ---- */

static size_t bytes_of(void *block) {
    return block && g_shortage.has_limit ? g_shortage.real.malloc_usable_size(block) : 0;
}

static void add(int64_t bytes) {
    if (bytes && !is_own())
        __atomic_fetch_add(&g_shortage.live, bytes, __ATOMIC_RELAXED);
}

static void *counted(void *block) {
    add((int64_t)bytes_of(block));
    return block;
}

/* ---- In place of the allocator's functions ---- */

static void *allocate(size_t size) {
    return fails(size) ? no_memory() : counted(g_shortage.real.malloc(size));
}

static void *allocate_zeroed(size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        total = SIZE_MAX;
    return fails(total) ? no_memory() : counted(g_shortage.real.calloc(count, size));
}

static void *allocate_aligned(size_t alignment, size_t size) {
    return fails(size) ? no_memory() : counted(g_shortage.real.aligned_alloc(alignment, size));
}

static void *allocate_at(size_t alignment, size_t size) {
    return fails(size) ? no_memory() : counted(g_shortage.real.memalign(alignment, size));
}

static int allocate_into(void **result, size_t alignment, size_t size) {
    if (fails(size))
        return ENOMEM;
    int error = g_shortage.real.posix_memalign(result, alignment, size);
    if (error == 0)
        counted(*result);
    return error;
}

static void *allocate_pages(size_t size) {
    return fails(size) ? no_memory() : counted(g_shortage.real.valloc(size));
}

static void *allocate_whole_pages(size_t size) {
    return fails(size) ? no_memory() : counted(g_shortage.real.pvalloc(size));
}

static void deallocate(void *block) {
    add(-(int64_t)bytes_of(block));
    g_shortage.real.free(block);
}

/* Some allocators free the block, others give one of no bytes. */
static void *shrink_to_nothing(void *block, size_t old_bytes) {
    add(-(int64_t)old_bytes);
    return counted(g_shortage.real.realloc(block, 0));
}

/* A block that cannot grow stays what it was. */
static void *reallocate(void *block, size_t size) {
    size_t old_bytes = bytes_of(block);
    if (block && size == 0)
        return shrink_to_nothing(block, old_bytes);
    if (fails(size > old_bytes ? size - old_bytes : 0))
        return no_memory();
    void *moved = g_shortage.real.realloc(block, size);
    if (moved)
        add((int64_t)bytes_of(moved) - (int64_t)old_bytes);
    return moved;
}

bool mt_shortage_begin(const struct mt_shortage_settings *settings) {
    static const struct mt_real ours = {.malloc = allocate,
                                        .calloc = allocate_zeroed,
                                        .realloc = reallocate,
                                        .free = deallocate,
                                        .posix_memalign = allocate_into,
                                        .aligned_alloc = allocate_aligned,
                                        .memalign = allocate_at,
                                        .valloc = allocate_pages,
                                        .pvalloc = allocate_whole_pages};
    if (settings->limit && !mt_real.malloc_usable_size)
        return false;
    g_shortage.has_limit = settings->limit != 0;
    g_shortage.settings = *settings;
    g_shortage.real = mt_real;
    mt_real_replace(&ours);
    return true;
}

void mt_shortage_after_fork(void) {
    __atomic_store_n(&g_shortage.number, 0, __ATOMIC_RELAXED);
}
