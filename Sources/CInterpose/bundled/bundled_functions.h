/* The functions of allocators that executables bring along.
 *
 * Named as the C library's, which they replace, or the same behind a prefix (je_malloc); jemalloc
 * and mimalloc have some beside. Sources: jemalloc(3), include/jemalloc/jemalloc_protos.h.in;
 * mimalloc.h; gperftools/tcmalloc.h. */
#ifndef MT_BUNDLED_FUNCTIONS_H
#define MT_BUNDLED_FUNCTIONS_H

#include "base/os.h"

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

/* X(name, operation, parameters, arguments, alignment, name of the one that does not throw) */
#define MT_FOR_EACH_BUNDLED_NEW(X)                                                                 \
    X(_Znwm, NEW, (size_t size), (size), 0, _ZnwmRKSt9nothrow_t, (size, &mt_no_tag))               \
    X(_Znam, NEW_ARRAY, (size_t size), (size), 0, _ZnamRKSt9nothrow_t, (size, &mt_no_tag))         \
    X(_ZnwmSt11align_val_t, NEW_ALIGNED, (size_t size, size_t alignment), (size, alignment),       \
      alignment, _ZnwmSt11align_val_tRKSt9nothrow_t, (size, alignment, &mt_no_tag))                \
    X(_ZnamSt11align_val_t, NEW_ARRAY_ALIGNED, (size_t size, size_t alignment), (size, alignment), \
      alignment, _ZnamSt11align_val_tRKSt9nothrow_t, (size, alignment, &mt_no_tag))

/* X(name, operation, parameters, arguments, alignment) */
#define MT_FOR_EACH_BUNDLED_NEW_NOTHROW(X)                                                         \
    X(_ZnwmRKSt9nothrow_t, NEW_NOTHROW, (size_t size, const void *tag), (size, tag), 0)            \
    X(_ZnamRKSt9nothrow_t, NEW_ARRAY_NOTHROW, (size_t size, const void *tag), (size, tag), 0)      \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t, NEW_ALIGNED_NOTHROW,                                     \
      (size_t size, size_t alignment, const void *tag), (size, alignment, tag), alignment)         \
    X(_ZnamSt11align_val_tRKSt9nothrow_t, NEW_ARRAY_ALIGNED_NOTHROW,                               \
      (size_t size, size_t alignment, const void *tag), (size, alignment, tag), alignment)

/* X(name, operation, parameters, arguments, size or 0, alignment or 0) */
#define MT_FOR_EACH_BUNDLED_DELETE(X)                                                              \
    X(_ZdlPv, DELETE, (void *block), (block), 0, 0)                                                \
    X(_ZdaPv, DELETE_ARRAY, (void *block), (block), 0, 0)                                          \
    X(_ZdlPvRKSt9nothrow_t, DELETE_NOTHROW, (void *block, const void *tag), (block, tag), 0, 0)    \
    X(_ZdaPvRKSt9nothrow_t, DELETE_ARRAY_NOTHROW, (void *block, const void *tag), (block, tag), 0, \
      0)                                                                                           \
    X(_ZdlPvm, DELETE_SIZED, (void *block, size_t size), (block, size), size, 0)                   \
    X(_ZdaPvm, DELETE_ARRAY_SIZED, (void *block, size_t size), (block, size), size, 0)             \
    X(_ZdlPvSt11align_val_t, DELETE_ALIGNED, (void *block, size_t alignment), (block, alignment),  \
      0, alignment)                                                                                \
    X(_ZdaPvSt11align_val_t, DELETE_ARRAY_ALIGNED, (void *block, size_t alignment),                \
      (block, alignment), 0, alignment)                                                            \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t, DELETE_ALIGNED_NOTHROW,                                 \
      (void *block, size_t alignment, const void *tag), (block, alignment, tag), 0, alignment)     \
    X(_ZdaPvSt11align_val_tRKSt9nothrow_t, DELETE_ARRAY_ALIGNED_NOTHROW,                           \
      (void *block, size_t alignment, const void *tag), (block, alignment, tag), 0, alignment)     \
    X(_ZdlPvmSt11align_val_t, DELETE_SIZED_ALIGNED, (void *block, size_t size, size_t alignment),  \
      (block, size, alignment), size, alignment)                                                   \
    X(_ZdaPvmSt11align_val_t, DELETE_ARRAY_SIZED_ALIGNED,                                          \
      (void *block, size_t size, size_t alignment), (block, size, alignment), size, alignment)

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
