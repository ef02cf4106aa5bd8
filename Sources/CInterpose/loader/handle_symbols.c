/* See handle_symbols.h. */
#define _GNU_SOURCE
#include "loader/handle_symbols.h"

#include "base/text.h"
#include "base/tls.h"
#include "loader/hook_names.h"
#include "loader/loaded_symbols.h"
#include "loader/real.h"
#include <errno.h>

/* Ours calls what programs are bound to, which dlsym passes over where it has only hidden versions
 * (libc_malloc_debug.so). */
static bool is_found_by_name(void) {
    return (const void *)mt_real_behind("malloc") == mt_real_allocator;
}

static void *find_ours(void *handle, const char *name) {
    uintptr_t theirs = (uintptr_t)mt_real_symbol(handle, name);
    if (!theirs || mt_real_is_ours(theirs) || !is_found_by_name() || theirs != mt_real_behind(name))
        return NULL;
    return (void *)mt_loaded_find_own(name);
}

static void *find_next_ours(void *handle, const char *name) {
    (void)handle;
    const char *const allocator[] = {"malloc", "free", name};
    if (!is_found_by_name())
        return NULL;
    for (size_t i = 0; i < sizeof allocator / sizeof *allocator; i++) {
        uintptr_t theirs = mt_real_behind(allocator[i]);
        if (!theirs || mt_real_is_ours(theirs) || !mt_loaded_is_only(allocator[i], theirs))
            return NULL;
    }
    return (void *)mt_loaded_find_own(name);
}

/* Calls one of the two, which may allocate and set errno. */
static void *unseen(void *(*find)(void *, const char *), void *handle, const char *name) {
    int saved = errno;
    uint32_t inside = mt_tls.inside, is_own = mt_tls.is_own;
    mt_tls.inside = mt_tls.is_own = 1; /* the loader may allocate */
    void *ours = find(handle, name);
    mt_tls.inside = inside;
    mt_tls.is_own = is_own;
    errno = saved;
    return ours;
}

void *mt_handle_symbols_find(void *handle, const char *name) {
    if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !mt_hook_names_has(name))
        return NULL;
    return unseen(find_ours, handle, name);
}

/* The operators of C++ may be in nobody's scope but ours. */
static bool is_of_c_allocator(const char *name) {
    for (size_t i = 0; i < MT_ALLOCATOR_NAMES; i++)
        if (mt_text_equal(mt_allocator_names[i], name))
            return !mt_text_has_prefix(name, "_Z");
    return false;
}

void *mt_handle_symbols_find_next(const char *name) {
    return is_of_c_allocator(name) ? unseen(find_next_ours, RTLD_NEXT, name) : NULL;
}
