/* The bootstrap arena: a bump allocator in static memory. See real.h.
 *
 * Each block is preceded by its size, so that realloc and malloc_usable_size can be answered:
 *
 *      | size (16 bytes, the last 8 used) | block ... | size | block ...
 */
#include "base/sampled_set.h"
#include "loader/real.h"

#include <string.h>

enum { PREFIX = 16 };

_Alignas(64) uint8_t mt_arena_bytes[MT_ARENA_CAPACITY];

static struct {
    size_t used;
    uint64_t blocks;
    uint64_t served;
} g_arena;

void *mt_arena_allocate(size_t size, size_t alignment) {
    if (alignment < PREFIX)
        alignment = PREFIX;
    if (size > MT_ARENA_CAPACITY || alignment > MT_ARENA_CAPACITY)
        return NULL;
    size_t used = __atomic_load_n(&g_arena.used, __ATOMIC_RELAXED), start, end;
    do {
        uintptr_t base = (uintptr_t)mt_arena_bytes;
        uintptr_t block = (base + used + PREFIX + alignment - 1) & ~(uintptr_t)(alignment - 1);
        start = (size_t)(block - base);
        if (start > MT_ARENA_CAPACITY || size > MT_ARENA_CAPACITY - start)
            return NULL;
        end = start + size;
    } while (!__atomic_compare_exchange_n(&g_arena.used, &used, end, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    __atomic_fetch_add(&g_arena.blocks, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&g_arena.served, size, __ATOMIC_RELAXED);
    uint8_t *block = mt_arena_bytes + start;
    memcpy(block - sizeof size, &size, sizeof size);
    mt_sampled_set_distrust(block); /* must not take the short way to the real free */
    return block;
}

void *mt_arena_allocate_zeroed(size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return NULL;
    /* Static memory that is handed out once is zero. */
    return mt_arena_allocate(total, PREFIX);
}

size_t mt_arena_size(const void *block) {
    size_t size;
    memcpy(&size, (const uint8_t *)block - sizeof size, sizeof size);
    return size;
}

void mt_arena_usage(uint64_t *blocks, uint64_t *bytes) {
    *blocks = __atomic_load_n(&g_arena.blocks, __ATOMIC_RELAXED);
    *bytes = __atomic_load_n(&g_arena.served, __ATOMIC_RELAXED);
}
