/* The operations of events: every function that allocates or frees.
 *
 * docs/trace-format.md, section 6. Rules: those of memtrace_format.h. */
#ifndef MEMTRACE_OPERATIONS_H
#define MEMTRACE_OPERATIONS_H

#include <stdint.h>

/* X(code, name, C name, family, class, has_size, has_alignment) where has_size says whether a
 * deallocation carries a size field; allocations always do. */
#define MT_FOR_EACH_OPERATION(X)                                                                   \
    X(1, MALLOC, "malloc", MALLOC, ALLOCATION, 1, 0)                                               \
    X(2, CALLOC, "calloc", MALLOC, ALLOCATION, 1, 0)                                               \
    X(3, REALLOC, "realloc", MALLOC, ALLOCATION, 1, 0)           /* realloc(NULL, n) */            \
    X(4, REALLOCARRAY, "reallocarray", MALLOC, ALLOCATION, 1, 0) /* reallocarray(NULL, n, m) */    \
    X(5, POSIX_MEMALIGN, "posix_memalign", MALLOC, ALLOCATION, 1, 1)                               \
    X(6, ALIGNED_ALLOC, "aligned_alloc", MALLOC, ALLOCATION, 1, 1)                                 \
    X(7, MEMALIGN, "memalign", MALLOC, ALLOCATION, 1, 1)                                           \
    X(8, VALLOC, "valloc", MALLOC, ALLOCATION, 1, 0)                                               \
    X(9, PVALLOC, "pvalloc", MALLOC, ALLOCATION, 1, 0)                                             \
    X(10, NEW, "operator new", NEW, ALLOCATION, 1, 0)                                              \
    X(11, NEW_NOTHROW, "operator new(nothrow)", NEW, ALLOCATION, 1, 0)                             \
    X(12, NEW_ALIGNED, "operator new(align_val_t)", NEW_ALIGNED, ALLOCATION, 1, 1)                 \
    X(13, NEW_ALIGNED_NOTHROW, "operator new(align_val_t, nothrow)", NEW_ALIGNED, ALLOCATION, 1,   \
      1)                                                                                           \
    X(14, NEW_ARRAY, "operator new[]", NEW_ARRAY, ALLOCATION, 1, 0)                                \
    X(15, NEW_ARRAY_NOTHROW, "operator new[](nothrow)", NEW_ARRAY, ALLOCATION, 1, 0)               \
    X(16, NEW_ARRAY_ALIGNED, "operator new[](align_val_t)", NEW_ARRAY_ALIGNED, ALLOCATION, 1, 1)   \
    X(17, NEW_ARRAY_ALIGNED_NOTHROW, "operator new[](align_val_t, nothrow)", NEW_ARRAY_ALIGNED,    \
      ALLOCATION, 1, 1)                                                                            \
    X(18, ANNOUNCED, "memtrace_allocated", ANNOUNCED, ALLOCATION, 1, 0)                            \
    X(24, FREE, "free", MALLOC, DEALLOCATION, 0, 0)                                                \
    X(25, CFREE, "cfree", MALLOC, DEALLOCATION, 0, 0)                                              \
    X(26, REALLOC_FREE, "realloc(p, 0)", MALLOC, DEALLOCATION, 0, 0)                               \
    X(27, FREE_SIZED, "free_sized", MALLOC, DEALLOCATION, 1, 0)                                    \
    X(28, FREE_ALIGNED_SIZED, "free_aligned_sized", MALLOC, DEALLOCATION, 1, 1)                    \
    X(29, DELETE, "operator delete", NEW, DEALLOCATION, 0, 0)                                      \
    X(30, DELETE_NOTHROW, "operator delete(nothrow)", NEW, DEALLOCATION, 0, 0)                     \
    X(31, DELETE_SIZED, "operator delete(size_t)", NEW, DEALLOCATION, 1, 0)                        \
    X(32, DELETE_ALIGNED, "operator delete(align_val_t)", NEW_ALIGNED, DEALLOCATION, 0, 1)         \
    X(33, DELETE_ALIGNED_NOTHROW, "operator delete(align_val_t, nothrow)", NEW_ALIGNED,            \
      DEALLOCATION, 0, 1)                                                                          \
    X(34, DELETE_SIZED_ALIGNED, "operator delete(size_t, align_val_t)", NEW_ALIGNED, DEALLOCATION, \
      1, 1)                                                                                        \
    X(35, DELETE_ARRAY, "operator delete[]", NEW_ARRAY, DEALLOCATION, 0, 0)                        \
    X(36, DELETE_ARRAY_NOTHROW, "operator delete[](nothrow)", NEW_ARRAY, DEALLOCATION, 0, 0)       \
    X(37, DELETE_ARRAY_SIZED, "operator delete[](size_t)", NEW_ARRAY, DEALLOCATION, 1, 0)          \
    X(38, DELETE_ARRAY_ALIGNED, "operator delete[](align_val_t)", NEW_ARRAY_ALIGNED, DEALLOCATION, \
      0, 1)                                                                                        \
    X(39, DELETE_ARRAY_ALIGNED_NOTHROW, "operator delete[](align_val_t, nothrow)",                 \
      NEW_ARRAY_ALIGNED, DEALLOCATION, 0, 1)                                                       \
    X(40, DELETE_ARRAY_SIZED_ALIGNED, "operator delete[](size_t, align_val_t)", NEW_ARRAY_ALIGNED, \
      DEALLOCATION, 1, 1)                                                                          \
    X(41, ANNOUNCED_END, "memtrace_freed", ANNOUNCED, DEALLOCATION, 0, 0)                          \
    X(48, REALLOC_BEGIN, "realloc", MALLOC, CONTROL, 0, 0)                                         \
    X(49, REALLOC_END, "realloc", MALLOC, CONTROL, 1, 0)                                           \
    X(50, REALLOC_FAIL, "realloc", MALLOC, CONTROL, 1, 0)                                          \
    X(51, FAILED, "failed allocation", MALLOC, CONTROL, 1, 0)                                      \
    X(52, THREAD, "thread", MALLOC, CONTROL, 0, 0)                                                 \
    X(53, REALLOC_LEFT, "realloc", MALLOC, CONTROL, 1, 0)

enum mt_operation {
#define MT_OPERATION_CODE(code, name, c_name, family, class_, has_size, has_alignment)             \
    MT_OP_##name = code,
    MT_FOR_EACH_OPERATION(MT_OPERATION_CODE)
#undef MT_OPERATION_CODE
};

/* Which deallocation goes with which allocation. */
enum mt_family {
    MT_FAMILY_MALLOC = 1,
    MT_FAMILY_NEW = 2,
    MT_FAMILY_NEW_ALIGNED = 3,
    MT_FAMILY_NEW_ARRAY = 4,
    MT_FAMILY_NEW_ARRAY_ALIGNED = 5,
    MT_FAMILY_ANNOUNCED = 6 /* blocks of the program's own allocators, beside all others: one may
                             * begin where a block of another family does that it lies in */
};

enum mt_operation_class {
    MT_CLASS_UNKNOWN = 0,
    MT_CLASS_ALLOCATION = 1,
    MT_CLASS_DEALLOCATION = 2,
    MT_CLASS_CONTROL = 3
};

/* The table above as data, for readers that cannot expand the macro. */
struct mt_operation_info {
    uint8_t code, family, operation_class, has_size, has_alignment;
    const char *name;
};

static inline struct mt_operation_info mt_operation_info(uint8_t code) {
    switch (code) {
#define MT_OPERATION_INFO(code_, name_, c_name, family_, class_, has_size_, has_alignment_)        \
case code_:                                                                                        \
    return (struct mt_operation_info){code_,     MT_FAMILY_##family_, MT_CLASS_##class_,           \
                                      has_size_, has_alignment_,      c_name};
        MT_FOR_EACH_OPERATION(MT_OPERATION_INFO)
#undef MT_OPERATION_INFO
    default:
        return (struct mt_operation_info){code, 0, MT_CLASS_UNKNOWN, 0, 0, "unknown"};
    }
}

#endif
