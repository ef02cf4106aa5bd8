/* See handle_symbols.h. */
#define _GNU_SOURCE
#include "loader/handle_symbols.h"

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

void *mt_handle_symbols_find(void *handle, const char *name) {
    if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !mt_hook_names_has(name))
        return NULL;
    int saved = errno;
    uint32_t inside = mt_tls.inside, is_own = mt_tls.is_own;
    mt_tls.inside = mt_tls.is_own = 1; /* the loader may allocate */
    void *ours = find_ours(handle, name);
    mt_tls.inside = inside;
    mt_tls.is_own = is_own;
    errno = saved;
    return ours;
}
