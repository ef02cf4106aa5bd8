/* A library that stands before the C library's allocator, and gets that by a handle. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static struct {
    void *(*malloc)(size_t);
    void (*free)(void *);
} real;
static int is_looking;
/* For what dlopen allocates. */
static char early[1 << 16];
static size_t used;

static void look(void) {
    is_looking = 1;
    void *c = dlopen("libc.so.6", RTLD_LAZY);
    real.free = dlsym(c, "free");
    real.malloc = dlsym(c, "malloc");
    is_looking = 0;
}

void *malloc(size_t size) {
    if (!real.malloc && is_looking) {
        void *block = early + used;
        used += (size + 15) & ~(size_t)15;
        return block;
    }
    if (!real.malloc)
        look();
    return real.malloc(size);
}

void free(void *block) {
    if (block >= (void *)early && block < (void *)(early + sizeof early))
        return;
    if (!real.free && !is_looking)
        look();
    if (real.free)
        real.free(block);
}
