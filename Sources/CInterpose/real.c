/* Looks up the real functions. See real.h. */
#define _GNU_SOURCE
#include "real.h"

struct mt_real mt_real;

/* POSIX lets a void * be a function (dlsym's rationale); ISO C only through memory. */
static void look_up(void *field, const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    __builtin_memcpy(field, &symbol, sizeof symbol);
}

bool mt_real_resolve(void) {
    struct mt_real real;
    /* malloc last: while it is NULL the arena serves. */
#define MT_REAL_LOOK_UP(result, name, parameters) look_up(&real.name, #name);
    MT_FOR_EACH_REAL(MT_REAL_LOOK_UP)
#undef MT_REAL_LOOK_UP
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    look_up(&real.dl_find_object, "_dl_find_object");
#endif
    if (!real.malloc || !real.calloc || !real.realloc || !real.free)
        return false;
    void *(*real_malloc)(size_t) = real.malloc;
    real.malloc = NULL;
    mt_real = real;
    __atomic_store_n(&mt_real.malloc, real_malloc, __ATOMIC_RELEASE);
    return true;
}
