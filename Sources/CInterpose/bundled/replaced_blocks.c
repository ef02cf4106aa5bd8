/* See replaced_blocks.h. */
#include "bundled/replaced_blocks.h"

#include "base/config.h"
#include "base/text.h"
#include "bundled/bundled_functions.h"
#include "loader/real.h"
#include <string.h>

/* Of every block, without being asked. */
enum { USUAL_ALIGNMENT = 16 };

bool mt_are_blocks_replaced(void) {
    return mt_config.zombies || mt_config.redzones || mt_config.guard[0];
}

static size_t size_of(void *block) {
    return block && mt_real.malloc_usable_size ? mt_real.malloc_usable_size(block) : 0;
}

/* ---- Resizing ---- */

static void *move(void *block, size_t old_size, size_t size, size_t alignment) {
    void *moved;
    if (mt_real.posix_memalign(&moved, alignment, size) != 0)
        return NULL;
    if (!block)
        return moved;
    memcpy(moved, block, old_size < size ? old_size : size);
    mt_real.free(block);
    return moved;
}

static void *resize(void *block, size_t size, size_t alignment, bool is_cleared) {
    size_t old_size = size_of(block);
    void *moved = alignment > USUAL_ALIGNMENT ? move(block, old_size, size, alignment)
                                              : mt_real.realloc(block, size);
    if (moved && is_cleared && old_size < size)
        memset((char *)moved + old_size, 0, size - old_size);
    return moved;
}

/* jemalloc(3): the others of the flags say where it is to look for memory. */
enum { LOG2_ALIGNMENT = 0x3f, CLEARS = 0x40 };

#define MT_RESIZER(name, parameters, size_, alignment_, is_cleared)                                \
    static void *replaced_##name parameters {                                                      \
        return resize(block, size_, alignment_, is_cleared);                                       \
    }
MT_RESIZER(realloc, (void *block, size_t size), size, 0, false)
MT_RESIZER(reallocarray, (void *block, size_t count, size_t size), mt_product(count, size), 0,
           false)
MT_RESIZER(rallocx, (void *block, size_t size, int flags), size,
           (size_t)1 << (flags & LOG2_ALIGNMENT), (flags & CLEARS) != 0)
MT_RESIZER(reallocn, (void *block, size_t count, size_t size), mt_product(count, size), 0, false)
MT_RESIZER(rezalloc, (void *block, size_t size), size, 0, true)
MT_RESIZER(recalloc, (void *block, size_t count, size_t size), mt_product(count, size), 0, true)
MT_RESIZER(realloc_aligned, (void *block, size_t size, size_t alignment), size, alignment, false)
MT_RESIZER(rezalloc_aligned, (void *block, size_t size, size_t alignment), size, alignment, true)

/* It may leave every block as it is. */
static size_t replaced_xallocx(void *block, size_t size, size_t extra, int flags) {
    (void)size, (void)extra, (void)flags;
    return size_of(block);
}

/* ---- Which for which ---- */

uintptr_t mt_replaced_call(const char *name, uintptr_t address) {
    if (!mt_are_blocks_replaced())
        return address;
        /* What else than the block they are given is in registers that free does not look at. */
#define MT_CALL_FREE(function, ...)                                                                \
    if (mt_text_equal(name, #function))                                                            \
        return (uintptr_t)mt_real.free;
    MT_FOR_EACH_BUNDLED_ENDER(MT_CALL_FREE)
#define MT_CALL_OURS(function, ...)                                                                \
    if (mt_text_equal(name, #function))                                                            \
        return (uintptr_t)replaced_##function;
    MT_FOR_EACH_BUNDLED_RESIZER(MT_CALL_OURS)
    return mt_text_equal(name, "xallocx") ? (uintptr_t)replaced_xallocx : address;
}
