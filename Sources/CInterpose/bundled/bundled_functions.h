/* The functions of allocators that executables bring along.
 *
 * Named as the C library's, which they replace, or the same behind a prefix (je_malloc); jemalloc
 * and mimalloc have some beside. Sources: jemalloc(3), include/jemalloc/jemalloc_protos.h.in;
 * mimalloc.h; gperftools/tcmalloc.h. */
#ifndef MT_BUNDLED_FUNCTIONS_H
#define MT_BUNDLED_FUNCTIONS_H

#include "base/os.h"

static inline size_t mt_product(size_t count, size_t size) {
    size_t product;
    return __builtin_mul_overflow(count, size, &product) ? SIZE_MAX : product;
}

/* X(name, operation, parameters, arguments, size, alignment): return a block. */
#define MT_FOR_EACH_BUNDLED_MAKER(X)                                                               \
    X(malloc, MALLOC, (size_t size), (size), size, 0)                                              \
    X(calloc, CALLOC, (size_t count, size_t size), (count, size), mt_product(count, size), 0)      \
    X(aligned_alloc, ALIGNED_ALLOC, (size_t alignment, size_t size), (alignment, size), size,      \
      alignment)                                                                                   \
    X(memalign, MEMALIGN, (size_t alignment, size_t size), (alignment, size), size, alignment)     \
    X(valloc, VALLOC, (size_t size), (size), size, 0)                                              \
    X(pvalloc, PVALLOC, (size_t size), (size), size, 0)                                            \
    X(mallocx, MALLOC, (size_t size, int flags), (size, flags), size, 0)                           \
    X(malloc_small, MALLOC, (size_t size), (size), size, 0)                                        \
    X(mallocn, MALLOC, (size_t count, size_t size), (count, size), mt_product(count, size), 0)     \
    X(malloc_aligned, ALIGNED_ALLOC, (size_t size, size_t alignment), (size, alignment), size,     \
      alignment)                                                                                   \
    X(zalloc, CALLOC, (size_t size), (size), size, 0)                                              \
    X(zalloc_small, CALLOC, (size_t size), (size), size, 0)                                        \
    X(zalloc_aligned, ALIGNED_ALLOC, (size_t size, size_t alignment), (size, alignment), size,     \
      alignment)                                                                                   \
    X(calloc_aligned, ALIGNED_ALLOC, (size_t count, size_t size, size_t alignment),                \
      (count, size, alignment), mt_product(count, size), alignment)

/* X(name, parameters, arguments, size): of `block` make one of another size. */
#define MT_FOR_EACH_BUNDLED_RESIZER(X)                                                             \
    X(realloc, (void *block, size_t size), (block, size), size)                                    \
    X(reallocarray, (void *block, size_t count, size_t size), (block, count, size),                \
      mt_product(count, size))                                                                     \
    X(rallocx, (void *block, size_t size, int flags), (block, size, flags), size)                  \
    X(reallocn, (void *block, size_t count, size_t size), (block, count, size),                    \
      mt_product(count, size))                                                                     \
    X(rezalloc, (void *block, size_t size), (block, size), size)                                   \
    X(recalloc, (void *block, size_t count, size_t size), (block, count, size),                    \
      mt_product(count, size))                                                                     \
    X(realloc_aligned, (void *block, size_t size, size_t alignment), (block, size, alignment),     \
      size)                                                                                        \
    X(rezalloc_aligned, (void *block, size_t size, size_t alignment), (block, size, alignment),    \
      size)

/* X(name, parameters, arguments): end `block`. */
#define MT_FOR_EACH_BUNDLED_ENDER(X)                                                               \
    X(free, (void *block), (block))                                                                \
    X(cfree, (void *block), (block))                                                               \
    X(dallocx, (void *block, int flags), (block, flags))                                           \
    X(sdallocx, (void *block, size_t size, int flags), (block, size, flags))                       \
    X(free_size, (void *block, size_t size), (block, size))                                        \
    X(free_aligned, (void *block, size_t alignment), (block, alignment))                           \
    X(free_size_aligned, (void *block, size_t size, size_t alignment), (block, size, alignment))   \
    X(free_sized, (void *block, size_t size), (block, size))                                       \
    X(free_aligned_sized, (void *block, size_t alignment, size_t size), (block, alignment, size))

/* Those of no family: their hooks are written out. */
#define MT_FOR_EACH_BUNDLED_OTHER(X) X(posix_memalign) X(xallocx)

/* A function of an allocator, by its name behind the prefix, and what is called instead of it. */
struct mt_bundled_function {
    const char *name;
    uintptr_t hook;
    bool is_operator;
};

enum { MT_BUNDLED_FUNCTIONS = 53 };
extern const struct mt_bundled_function mt_bundled_functions[MT_BUNDLED_FUNCTIONS];

/* Where the hooks find the functions themselves, in the order of the table; 0: there is none, and
 * its hook is never called. */
extern MT_INTERNAL uintptr_t mt_bundled_real[MT_BUNDLED_FUNCTIONS];

#endif
