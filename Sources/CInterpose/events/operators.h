/* Operators new and delete of C++, by their mangled names (Itanium C++ ABI 5.1.2). */
#ifndef MT_OPERATORS_H
#define MT_OPERATORS_H

/* X(mangled name, operation, parameters, arguments, alignment or 0): throws where there is no
 * memory. With RKSt9nothrow_t behind its name it is the one that does not. */
#define MT_FOR_EACH_THROWING_NEW(X)                                                                \
    X(_Znwm, NEW, (size_t size), (size), 0)                                                        \
    X(_ZnwmSt11align_val_t, NEW_ALIGNED, (size_t size, size_t alignment), (size, alignment),       \
      alignment)                                                                                   \
    X(_Znam, NEW_ARRAY, (size_t size), (size), 0)                                                  \
    X(_ZnamSt11align_val_t, NEW_ARRAY_ALIGNED, (size_t size, size_t alignment), (size, alignment), \
      alignment)

/* The same: returns NULL. */
#define MT_FOR_EACH_NOTHROW_NEW(X)                                                                 \
    X(_ZnwmRKSt9nothrow_t, NEW_NOTHROW, (size_t size, const void *tag), (size, tag), 0)            \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t, NEW_ALIGNED_NOTHROW,                                     \
      (size_t size, size_t alignment, const void *tag), (size, alignment, tag), alignment)         \
    X(_ZnamRKSt9nothrow_t, NEW_ARRAY_NOTHROW, (size_t size, const void *tag), (size, tag), 0)      \
    X(_ZnamSt11align_val_tRKSt9nothrow_t, NEW_ARRAY_ALIGNED_NOTHROW,                               \
      (size_t size, size_t alignment, const void *tag), (size, alignment, tag), alignment)

#define MT_FOR_EACH_NEW(X)                                                                         \
    MT_FOR_EACH_THROWING_NEW(X)                                                                    \
    MT_FOR_EACH_NOTHROW_NEW(X)

/* X(mangled name, operation, parameters, arguments, size or 0, alignment or 0) */
#define MT_FOR_EACH_DELETE(X)                                                                      \
    X(_ZdlPv, DELETE, (void *block), (block), 0, 0)                                                \
    X(_ZdlPvRKSt9nothrow_t, DELETE_NOTHROW, (void *block, const void *tag), (block, tag), 0, 0)    \
    X(_ZdlPvm, DELETE_SIZED, (void *block, size_t size), (block, size), size, 0)                   \
    X(_ZdlPvSt11align_val_t, DELETE_ALIGNED, (void *block, size_t alignment), (block, alignment),  \
      0, alignment)                                                                                \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t, DELETE_ALIGNED_NOTHROW,                                 \
      (void *block, size_t alignment, const void *tag), (block, alignment, tag), 0, alignment)     \
    X(_ZdlPvmSt11align_val_t, DELETE_SIZED_ALIGNED, (void *block, size_t size, size_t alignment),  \
      (block, size, alignment), size, alignment)                                                   \
    X(_ZdaPv, DELETE_ARRAY, (void *block), (block), 0, 0)                                          \
    X(_ZdaPvRKSt9nothrow_t, DELETE_ARRAY_NOTHROW, (void *block, const void *tag), (block, tag), 0, \
      0)                                                                                           \
    X(_ZdaPvm, DELETE_ARRAY_SIZED, (void *block, size_t size), (block, size), size, 0)             \
    X(_ZdaPvSt11align_val_t, DELETE_ARRAY_ALIGNED, (void *block, size_t alignment),                \
      (block, alignment), 0, alignment)                                                            \
    X(_ZdaPvSt11align_val_tRKSt9nothrow_t, DELETE_ARRAY_ALIGNED_NOTHROW,                           \
      (void *block, size_t alignment, const void *tag), (block, alignment, tag), 0, alignment)     \
    X(_ZdaPvmSt11align_val_t, DELETE_ARRAY_SIZED_ALIGNED,                                          \
      (void *block, size_t size, size_t alignment), (block, size, alignment), size, alignment)

#endif
