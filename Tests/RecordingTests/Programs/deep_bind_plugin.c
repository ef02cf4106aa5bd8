// A library for deep_bind.c: makes and frees blocks. With INITIALISER, also while it is loaded.
// With JEMALLOC it looks as if it had an allocator for itself. With BY_HANDLE it asks a handle of
// the C library for its functions, as extensions of PHP do. With INNER it opens that library in the
// same way and has it do all, as PHP's FFI does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// Not called but through memory, as callbacks are.
void (*const plugin_free)(void *) = free;
static void **kept;

#ifdef JEMALLOC
const char plugin_message[] = "<jemalloc>: Error in munmap()";
#endif

#ifdef INITIALISER
__attribute__((constructor)) static void begin(void) {
    kept = malloc(8 * sizeof *kept);
    memset(kept, 0, 8 * sizeof *kept);
}
#endif

#ifdef INNER
static void *find(const char *name) {
    return dlsym(dlopen(INNER, RTLD_NOW | RTLD_DEEPBIND), name);
}

void *plugin_make(size_t size) {
    return ((void *(*)(size_t))find("plugin_make"))(size);
}

void plugin_end(void *block) {
    ((void (*)(void *))find("plugin_end"))(block);
}
#elif defined(BY_HANDLE)
static void *find(const char *name) {
    return dlsym(dlopen("libc.so.6", RTLD_LAZY), name);
}

void *plugin_make(size_t size) {
    return ((void *(*)(size_t, size_t))find("calloc"))(1, size);
}

void plugin_end(void *block) {
    ((void (*)(void *))find("free"))(block);
}
#else
void *plugin_make(size_t size) {
    return calloc(1, size);
}

void plugin_end(void *block) {
    free(block);
}
#endif

// Held by what the initialiser allocated.
int plugin_keep(void) {
    if (kept)
        kept[3] = malloc(123);
    return 0;
}
