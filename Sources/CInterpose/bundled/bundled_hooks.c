/* What is called instead of the functions of an allocator that an executable brings along: records,
 * and calls them. See bundled_functions.h.
 *
 * What these functions call in turn, each other or the allocator behind, is theirs (is_bundled). */
#include "bundled/bundled_functions.h"
#include "events/hook.h"
#include "events/operators.h"

#include <errno.h>

uintptr_t mt_bundled_real[MT_BUNDLED_FUNCTIONS];

/* ---- The functions themselves ---- */

enum index {
#define MT_INDEX(name, ...) INDEX_##name,
    MT_FOR_EACH_BUNDLED_MAKER(MT_INDEX) MT_FOR_EACH_BUNDLED_RESIZER(MT_INDEX)
        MT_FOR_EACH_BUNDLED_ENDER(MT_INDEX) MT_FOR_EACH_BUNDLED_OTHER(MT_INDEX)
            MT_FOR_EACH_THROWING_NEW(MT_INDEX) MT_FOR_EACH_NOTHROW_NEW(MT_INDEX)
                MT_FOR_EACH_DELETE(MT_INDEX)
#undef MT_INDEX
                    INDEX_END
};
static_assert(INDEX_END == MT_BUNDLED_FUNCTIONS, "the number of functions");

/* Where a hook is within another one, the flag is taken already. */
static inline uint32_t begin_real(const struct mt_call *call) {
    uint32_t before = mt_tls.is_bundled;
    mt_tls.is_bundled = before || call->entry == MT_ENTRY_RECORD;
    return before;
}

/* An expression: what a function itself returns. */
#define MT_CALL_REAL(result, name, parameters, arguments)                                          \
    __extension__({                                                                                \
        uint32_t before = begin_real(&call);                                                       \
        result value = ((result(*) parameters)mt_bundled_real[INDEX_##name])arguments;             \
        mt_tls.is_bundled = before;                                                                \
        value;                                                                                     \
    })

/* ---- Blocks that are made ---- */

#define MT_DEFINE_MAKER(name, operation, parameters, arguments, size_, alignment_)                 \
    static void *hook_##name parameters {                                                          \
        MT_BEGIN_CALL(MT_OP_##operation);                                                          \
        return mt_end_allocation(&call, MT_CALL_REAL(void *, name, parameters, arguments), size_,  \
                                 alignment_);                                                      \
    }
MT_FOR_EACH_BUNDLED_MAKER(MT_DEFINE_MAKER)

static int hook_posix_memalign(void **result, size_t alignment, size_t size) {
    MT_BEGIN_CALL(MT_OP_POSIX_MEMALIGN);
    int error =
        MT_CALL_REAL(int, posix_memalign, (void **, size_t, size_t), (result, alignment, size));
    if (error != EINVAL)
        mt_note_allocation(&call, error == 0 ? *result : NULL, size, alignment);
    mt_leave(call.entry);
    return error;
}

/* ---- Blocks that end ---- */

#define MT_DEFINE_DELETE(name, operation, parameters, arguments, size_, alignment_)                \
    static void hook_##name parameters {                                                           \
        MT_BEGIN_CALL(MT_OP_##operation);                                                          \
        if (block)                                                                                 \
            mt_note_deallocation(&call, block, size_, alignment_);                                 \
        uint32_t before = begin_real(&call);                                                       \
        ((void(*) parameters)mt_bundled_real[INDEX_##name]) arguments;                             \
        mt_tls.is_bundled = before;                                                                \
        mt_leave(call.entry);                                                                      \
    }
#define MT_DEFINE_ENDER(name, parameters, arguments)                                               \
    MT_DEFINE_DELETE(name, FREE, parameters, arguments, 0, 0)
MT_FOR_EACH_BUNDLED_ENDER(MT_DEFINE_ENDER)
MT_FOR_EACH_DELETE(MT_DEFINE_DELETE)

/* ---- Blocks that change ---- */

/* Before the real call.
 * returns  whether the end of the old block is recorded */
static bool begin_resize(struct mt_call *call, const void *block, size_t size) {
    call->operation = size == 0 ? MT_OP_REALLOC_FREE : MT_OP_REALLOC_BEGIN;
    bool is_taken = mt_records_deallocation(call, block);
    if (is_taken)
        mt_record_deallocation(call, block, 0, 0);
    call->operation = MT_OP_REALLOC;
    return is_taken;
}

/* After it. Of no bytes: the old block has ended, and there may be a new one. */
static void end_resize(struct mt_call *call, bool was_taken, const void *block, const void *moved,
                       size_t size) {
    if (call->entry == MT_ENTRY_PASS)
        return;
    mt_note_place(block, moved);
    if (size > 0)
        mt_note_resized(call, was_taken, block, moved, size);
    else if (moved)
        mt_note_allocation(call, moved, 0, 0);
}

#define MT_DEFINE_RESIZER(name, parameters, arguments, size_)                                      \
    static void *hook_##name parameters {                                                          \
        MT_BEGIN_CALL(MT_OP_REALLOC);                                                              \
        bool was_taken = block && begin_resize(&call, block, size_);                               \
        void *moved = MT_CALL_REAL(void *, name, parameters, arguments);                           \
        if (block)                                                                                 \
            end_resize(&call, was_taken, block, moved, size_);                                     \
        else                                                                                       \
            mt_note_allocation(&call, moved, size_, 0);                                            \
        mt_leave(call.entry);                                                                      \
        return moved;                                                                              \
    }
MT_FOR_EACH_BUNDLED_RESIZER(MT_DEFINE_RESIZER)

/* Grows a block where it is, or leaves it as it was.
 * returns  how large it is then */
static size_t hook_xallocx(void *block, size_t size, size_t extra, int flags) {
    MT_BEGIN_CALL(MT_OP_REALLOC);
    size_t result =
        MT_CALL_REAL(size_t, xallocx, (void *, size_t, size_t, int), (block, size, extra, flags));
    if (result >= size && size > 0) {
        bool was_taken = begin_resize(&call, block, size);
        end_resize(&call, was_taken, block, block, size);
    }
    mt_leave(call.entry);
    return result;
}

/* ---- Operators ---- */

#define MT_DEFINE_NOTHROW_NEW(name, operation, parameters, arguments, alignment_)                  \
    MT_DEFINE_MAKER(name, operation, parameters, arguments, size, alignment_)                      \
    static void *call_##name parameters {                                                          \
        return ((void *(*)parameters)mt_bundled_real[INDEX_##name])arguments;                      \
    }
MT_FOR_EACH_NOTHROW_NEW(MT_DEFINE_NOTHROW_NEW)

/* Stands for std::nothrow, of which nothing but the type matters. */
static const char no_tag;

#define MT_WITH_TAG(...) (__VA_ARGS__, &no_tag)

/* The one that does not throw is asked: an exception would leave this hook without its end. What
 * throws is called when that one has failed, from outside. */
#define MT_DEFINE_THROWING_NEW(name, operation, parameters, arguments, alignment_)                 \
    static void *hook_##name parameters {                                                          \
        MT_BEGIN_CALL(MT_OP_##operation);                                                          \
        uint32_t before = begin_real(&call);                                                       \
        void *block = call_##name##RKSt9nothrow_t MT_WITH_TAG arguments;                           \
        mt_tls.is_bundled = before;                                                                \
        if (mt_unlikely(!block)) {                                                                 \
            mt_leave(call.entry);                                                                  \
            return ((void *(*)parameters)mt_bundled_real[INDEX_##name])arguments;                  \
        }                                                                                          \
        return mt_end_allocation(&call, block, size, alignment_);                                  \
    }
MT_FOR_EACH_THROWING_NEW(MT_DEFINE_THROWING_NEW)

/* ---- The table ---- */

#define MT_FUNCTION(name, ...) {#name, (uintptr_t)hook_##name, false},
#define MT_OPERATOR(name, ...) {#name, (uintptr_t)hook_##name, true},
const struct mt_bundled_function mt_bundled_functions[MT_BUNDLED_FUNCTIONS] = {
    // clang-format off
    MT_FOR_EACH_BUNDLED_MAKER(MT_FUNCTION)
    MT_FOR_EACH_BUNDLED_RESIZER(MT_FUNCTION)
    MT_FOR_EACH_BUNDLED_ENDER(MT_FUNCTION)
    MT_FOR_EACH_BUNDLED_OTHER(MT_FUNCTION)
    MT_FOR_EACH_THROWING_NEW(MT_OPERATOR)
    MT_FOR_EACH_NOTHROW_NEW(MT_OPERATOR)
    MT_FOR_EACH_DELETE(MT_OPERATOR)
    // clang-format on
};
