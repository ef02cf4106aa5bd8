/* operator new and delete, by their mangled names (Itanium C++ ABI 5.1.2).
 *
 * One event per call, naming the operator. The standard libraries implement them as malloc and
 * free, so we call those at once; their own malloc would only come back as a nested event. When
 * memory runs out the real operator takes over, from outside the recorder: it may call the host's
 * new handler and throws through no frame of ours. A host with operators of its own (not from
 * libstdc++ or libc++) keeps them: we step aside and record what they allocate from. */
#define _GNU_SOURCE
#include "events/hook.h"
#include "events/operators.h"

#include "base/text.h"
#include "loader/loaded_symbols.h"
#include "shortage/shortage.h"
#include <dlfcn.h>
#include <stdlib.h>

/* The operator behind ours. NULL: none is in our scope yet. */
struct real_operators {
#define MT_NEW_FIELD(name, operation, parameters, arguments, alignment) void *(*name)parameters;
#define MT_DELETE_FIELD(name, operation, parameters, arguments, size, alignment)                   \
    void(*name) parameters;
    MT_FOR_EACH_NEW(MT_NEW_FIELD)
    MT_FOR_EACH_DELETE(MT_DELETE_FIELD)
#undef MT_NEW_FIELD
#undef MT_DELETE_FIELD
};
static struct real_operators g_real;

enum { UNRESOLVED = 0, STANDARD, FOREIGN };
static uint32_t g_kind;

static void look_up(void *field, const char *name) {
    void *symbol = mt_real_symbol(RTLD_NEXT, name);
    /* libstdc++ may have come with a plugin, into a scope that is not ours. */
    if (!symbol)
        symbol = (void *)mt_loaded_find_function("libstdc++", name);
    if (!symbol)
        symbol = (void *)mt_loaded_find_function("libc++", name);
    __builtin_memcpy(field, &symbol, sizeof symbol);
}

static const void *image_base(const void *function) {
    Dl_info info;
    return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

/* True for an operator that allocates as our malloc does: of libstdc++ or libc++, which call
 * malloc, or of the allocator whose malloc is behind ours (tcmalloc, jemalloc, mimalloc). */
static bool is_standard(const void *function) {
    Dl_info info;
    if (!function)
        return true;
    if (!dladdr(function, &info) || !info.dli_fname)
        return false;
    const char *file = mt_text_last_component(info.dli_fname);
    return mt_text_has_prefix(file, "libstdc++") || mt_text_has_prefix(file, "libc++") ||
           info.dli_fbase == image_base(mt_real_allocator);
}

/* True when the host defines any of the operators itself. The others, those of the standard
 * library, then call the host's (new[] calls new, sized delete calls delete), and so must ours. */
static bool has_operators_of_its_own(void) {
#define MT_CHECK_NEW(name, operation, parameters, arguments, alignment)                            \
    if (mt_real_overriding_image(#name))                                                           \
        return true;
#define MT_CHECK_DELETE(name, operation, parameters, arguments, size, alignment)                   \
    if (mt_real_overriding_image(#name))                                                           \
        return true;
    MT_FOR_EACH_NEW(MT_CHECK_NEW)
    MT_FOR_EACH_DELETE(MT_CHECK_DELETE)
    return false;
}

/* A library with its own operator new that is not based on malloc must get its own blocks back. */
MT_COLD static uint32_t resolve(void) {
    uint32_t passes = mt_tls.passes;
    mt_tls.passes = 1;
    struct real_operators real;
#define MT_LOOK_UP_NEW(name, operation, parameters, arguments, alignment)                          \
    look_up(&real.name, #name);
#define MT_LOOK_UP_DELETE(name, operation, parameters, arguments, size, alignment)                 \
    look_up(&real.name, #name);
    MT_FOR_EACH_NEW(MT_LOOK_UP_NEW)
    MT_FOR_EACH_DELETE(MT_LOOK_UP_DELETE)
    bool is_known = real._Znwm != NULL;
    bool is_ours = is_standard((const void *)(uintptr_t)real._Znwm) &&
                   is_standard((const void *)(uintptr_t)real._ZdlPv) && !has_operators_of_its_own();
    uint32_t kind = is_ours ? STANDARD : FOREIGN;
    g_real = real;
    /* Without a library behind us, look again the next time. */
    __atomic_store_n(&g_kind, is_known ? kind : UNRESOLVED, __ATOMIC_RELEASE);
    mt_tls.passes = passes;
    return kind;
}

static inline bool is_foreign(void) {
    uint32_t kind = __atomic_load_n(&g_kind, __ATOMIC_ACQUIRE);
    if (mt_unlikely(kind == UNRESOLVED))
        kind = resolve();
    return mt_unlikely(kind == FOREIGN);
}

static inline bool is_standard_for_sure(void) {
    return mt_likely(__atomic_load_n(&g_kind, __ATOMIC_ACQUIRE) == STANDARD);
}

/* What libstdc++ and libc++ allocate with. */
static inline void *allocate(size_t size, size_t alignment) {
    if (size == 0)
        size = 1;
    if (alignment == 0)
        return mt_real.malloc(size);
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    void *block = NULL;
    return mt_real.posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

#define MT_DEFINE_NEW(name, operation, parameters, arguments, alignment)                           \
    MT_RECORDING_HALF static void *record##name parameters {                                       \
        if (is_foreign())                                                                          \
            return g_real.name arguments;                                                          \
        void *unrecorded = mt_sampling_rests() ? allocate(size, alignment) : NULL;                 \
        if (mt_unlikely(unrecorded != NULL))                                                       \
            return unrecorded;                                                                     \
        MT_BEGIN_CALL(MT_OP_##operation);                                                          \
        void *block =                                                                              \
            mt_is_early() ? mt_arena_allocate(size, alignment) : allocate(size, alignment);        \
        if (mt_unlikely(!block)) {                                                                 \
            mt_leave(call.entry);                                                                  \
            mt_shortage_repeat();                                                                  \
            return g_real.name ? g_real.name arguments : NULL;                                     \
        }                                                                                          \
        return mt_end_allocation(&call, block, size, alignment);                                   \
    }                                                                                              \
    MT_RECORDING_HALF static void *skip##name parameters {                                         \
        void *block = allocate(size, alignment);                                                   \
        if (mt_likely(block != NULL))                                                              \
            return block;                                                                          \
        MT_TAIL_CALL record##name arguments;                                                       \
    }                                                                                              \
    void *MT_HOOK_NAME(name) parameters;                                                           \
    MT_HOOK void *MT_HOOK_NAME(name) parameters {                                                  \
        if (is_standard_for_sure() && mt_sampling_skips(size))                                     \
            MT_TAIL_CALL skip##name arguments;                                                     \
        MT_TAIL_CALL record##name arguments;                                                       \
    }
MT_FOR_EACH_NEW(MT_DEFINE_NEW)

#define MT_DEFINE_DELETE(name, operation, parameters, arguments, size_, alignment_)                \
    MT_RECORDING_HALF static void record##name parameters {                                        \
        if (!block || mt_unlikely(mt_arena_owns(block)))                                           \
            return;                                                                                \
        if (is_foreign()) {                                                                        \
            g_real.name arguments;                                                                 \
            return;                                                                                \
        }                                                                                          \
        if (mt_sampling_leaves_out(block)) {                                                       \
            mt_real.free(block);                                                                   \
            return;                                                                                \
        }                                                                                          \
        MT_BEGIN_CALL(MT_OP_##operation);                                                          \
        if (mt_is_early())                                                                         \
            return;                                                                                \
        mt_note_deallocation(&call, block, size_, alignment_);                                     \
        mt_real.free(block);                                                                       \
        mt_leave(call.entry);                                                                      \
    }                                                                                              \
    void MT_HOOK_NAME(name) parameters;                                                            \
    MT_HOOK void MT_HOOK_NAME(name) parameters {                                                   \
        if (is_standard_for_sure() && mt_sampling_surely_ignores(block)) {                         \
            mt_real.free(block);                                                                   \
            return;                                                                                \
        }                                                                                          \
        MT_TAIL_CALL record##name arguments;                                                       \
    }
MT_FOR_EACH_DELETE(MT_DEFINE_DELETE)
