/* Looks up the real functions. See real.h. */
#define _GNU_SOURCE
#include "loader/real.h"

#include "base/text.h"
#include "loader/loaded_symbols.h"
#include <elf.h>
#include <errno.h>
#include <link.h>

struct mt_real mt_real;
const void *mt_real_allocator;

static bool g_is_behind_all;

void *(*mt_real_dlsym)(void *, const char *);

void mt_real_come_last(void) {
    g_is_behind_all = true;
}

bool mt_real_is_ours(uintptr_t address) {
    extern const char __ehdr_start[] __attribute__((visibility("hidden")));
    extern const char _end[] __attribute__((visibility("hidden")));
    return address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/* The versions of the C library's names that programs ask for. */
#ifdef __x86_64__
#    define MT_VERSION "GLIBC_2.2.5"
#    define MT_VERSION_OF_ALIGNED_ALLOC "GLIBC_2.16"
#else
#    define MT_VERSION "GLIBC_2.17"
#    define MT_VERSION_OF_ALIGNED_ALLOC MT_VERSION
#endif

/* By that of the C library, somebody else's that is behind ours. Each is found at the first try:
 * for a name that is nowhere the loader allocates a message, in whose allocator we may be. */
MT_COLD bool mt_real_find_dlsym(void) {
    void *(*found)(void *, const char *);
    void *symbol = dlvsym(g_is_behind_all ? RTLD_DEFAULT : RTLD_NEXT, "dlsym", MT_VERSION);
    if (!symbol)
        return false;
    __builtin_memcpy(&found, &symbol, sizeof found);
    void *next = found(g_is_behind_all ? RTLD_DEFAULT : RTLD_NEXT, "dlsym");
    if (next && !mt_real_is_ours((uintptr_t)next))
        __builtin_memcpy(&found, &next, sizeof found);
    __atomic_store_n(&mt_real_dlsym, found, __ATOMIC_RELEASE);
    return true;
}

void *mt_real_symbol(void *handle, const char *name) {
    if (!__atomic_load_n(&mt_real_dlsym, __ATOMIC_ACQUIRE) && !mt_real_find_dlsym())
        return NULL;
    return mt_real_dlsym(handle, name);
}

static bool is_entry(uintptr_t symbol, const char *name) {
    const char *image;
    return mt_loaded_symbol_kind(symbol, name, &image) == MT_SYMBOL_IMPORTED;
}

/* The executable's own entry for a function that it imports stands for it in the whole process. */
static void *behind_entry(const char *name) {
    Dl_info image;
    uintptr_t found = mt_loaded_find_function("", name);
    if (!found || mt_real_is_ours(found) || !dladdr((const void *)found, &image))
        return NULL;
    /* By name, for that of the right version. */
    void *library = dlopen(image.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library ? mt_real_symbol(library, name) : NULL;
    if (library)
        dlclose(library);
    return symbol;
}

/* Who comes last finds its own functions where nobody else has one. */
static void *find(const char *name) {
    if (!g_is_behind_all)
        return mt_real_symbol(RTLD_NEXT, name);
    void *symbol = mt_real_symbol(RTLD_DEFAULT, name);
    if (!symbol || mt_real_is_ours((uintptr_t)symbol))
        return NULL;
    return is_entry((uintptr_t)symbol, name) ? behind_entry(name) : symbol;
}

uintptr_t mt_real_entry(const char *name) {
    uintptr_t symbol = (uintptr_t)mt_real_symbol(RTLD_DEFAULT, name);
    return symbol && is_entry(symbol, name) ? symbol : 0;
}

/* POSIX lets a void * be a function (dlsym's rationale); ISO C only through memory. */
static void look_up(void *field, const char *name) {
    void *symbol = find(name);
    __builtin_memcpy(field, &symbol, sizeof symbol);
}

/* For a name that is nowhere the loader allocates a message, which it gives back at the next one:
 * an allocator of the program that is not ready for that yet crashes (GNU Common Lisp). */
static void look_up_newer(void *field, const char *name) {
    if (!mt_loaded_lacks(name))
        look_up(field, name);
}

uintptr_t mt_real_behind(const char *name) {
    uintptr_t next = (uintptr_t)find(name);
    /* libstdc++ may have come with a plugin, into a scope that is not ours. */
    if (!next && mt_text_has_prefix(name, "_Z"))
        next = mt_loaded_find_function("libstdc++", name);
    if (!next && mt_text_has_prefix(name, "_Z"))
        next = mt_loaded_find_function("libc++", name);
    return next;
}

static void look_up_version(void *field, const char *name, const char *version) {
    void *symbol = dlvsym(RTLD_NEXT, name, version);
    if (symbol)
        __builtin_memcpy(field, &symbol, sizeof symbol);
}

bool mt_real_is_of_c_library(const void *function) {
    Dl_info image;
    return dladdr(function, &image) && image.dli_fname &&
           mt_text_has_prefix(mt_text_last_component(image.dli_fname), "libc.so.");
}

/* The allocator of glibc's libc_malloc_debug.so (MALLOC_CHECK_, mtrace) has only hidden versions:
 * programs are bound to it, but dlsym passes over it and finds the C library's. */
static void prefer_hidden(struct mt_real *real) {
    if (g_is_behind_all)
        return;
    void *hidden = dlvsym(RTLD_NEXT, "malloc", MT_VERSION);
    const void *found = (const void *)(uintptr_t)real->malloc;
    if (!hidden || hidden == found || !mt_real_is_of_c_library(found))
        return;
    look_up_version(&real->malloc, "malloc", MT_VERSION);
    look_up_version(&real->calloc, "calloc", MT_VERSION);
    look_up_version(&real->realloc, "realloc", MT_VERSION);
    look_up_version(&real->free, "free", MT_VERSION);
    look_up_version(&real->posix_memalign, "posix_memalign", MT_VERSION);
    look_up_version(&real->aligned_alloc, "aligned_alloc", MT_VERSION_OF_ALIGNED_ALLOC);
    look_up_version(&real->memalign, "memalign", MT_VERSION);
    look_up_version(&real->valloc, "valloc", MT_VERSION);
    look_up_version(&real->pvalloc, "pvalloc", MT_VERSION);
    look_up_version(&real->malloc_usable_size, "malloc_usable_size", MT_VERSION);
}

bool mt_real_resolve(void) {
    struct mt_real real = {0};
    /* malloc last: while it is NULL the arena serves. */
#define MT_REAL_LOOK_UP(result, name, parameters) look_up(&real.name, #name);
    MT_FOR_EACH_REAL(MT_REAL_LOOK_UP)
#undef MT_REAL_LOOK_UP
#define MT_REAL_LOOK_UP(result, name, parameters) look_up_newer(&real.name, #name);
    MT_FOR_EACH_NEWER_REAL(MT_REAL_LOOK_UP)
#undef MT_REAL_LOOK_UP
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    look_up_newer(&real.dl_find_object, "_dl_find_object");
#endif
    if (!real.malloc || !real.calloc || !real.realloc || !real.free)
        return false;
    prefer_hidden(&real);
    void *(*real_malloc)(size_t) = real.malloc;
    mt_real_allocator = (const void *)(uintptr_t)real_malloc;
    real.malloc = NULL;
    mt_real = real;
    __atomic_store_n(&mt_real.malloc, real_malloc, __ATOMIC_RELEASE);
    return true;
}

/* Those that take any block come before those that make blocks of ours. */
void mt_real_replace(const struct mt_real *ours) {
#define MT_REPLACE(name)                                                                           \
    if (ours->name && mt_real.name)                                                                \
    __atomic_store_n(&mt_real.name, ours->name, __ATOMIC_RELEASE)
    /* The hooks take free for these where they are missing. */
    mt_real.free_sized = NULL;
    mt_real.free_aligned_sized = NULL;
    MT_REPLACE(malloc_usable_size);
    MT_REPLACE(free);
    MT_REPLACE(realloc);
    MT_REPLACE(posix_memalign);
    MT_REPLACE(aligned_alloc);
    MT_REPLACE(memalign);
    MT_REPLACE(valloc);
    MT_REPLACE(pvalloc);
    MT_REPLACE(calloc);
    MT_REPLACE(malloc);
#undef MT_REPLACE
}

/* The long way, for images without a hash table, functions chosen at run time, or amid a fork. */
static const char *ask_loader(void *chosen) {
    Dl_info ours, theirs;
    ElfW(Sym) *symbol = NULL;
    if (!dladdr(&mt_real, &ours) || !dladdr1(chosen, &theirs, (void **)&symbol, RTLD_DL_SYMENT))
        return NULL;
    if (theirs.dli_fbase == ours.dli_fbase || (symbol && symbol->st_shndx == SHN_UNDEF))
        return NULL;
    return theirs.dli_fname ? theirs.dli_fname : "?";
}

const char *mt_real_overriding_image(const char *name) {
    const char *image = NULL;
    void *chosen = mt_real_symbol(RTLD_DEFAULT, name);
    enum mt_symbol_kind kind =
        chosen ? mt_loaded_symbol_kind((uintptr_t)chosen, name, &image) : MT_SYMBOL_OURS;
    switch (kind) {
    case MT_SYMBOL_OURS:
    case MT_SYMBOL_IMPORTED:
        return NULL;
    case MT_SYMBOL_DEFINED:
        return image && *image ? image : program_invocation_name;
    default:
        return ask_loader(chosen);
    }
}
