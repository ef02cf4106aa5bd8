// A library for deep_bind.c with an allocator of its own, which nothing may redirect.
#include <stddef.h>

static char memory[1 << 16] __attribute__((aligned(16)));
static size_t used, ended;

void *malloc(size_t size) {
    size = (size + 15) & ~(size_t)15;
    used += size;
    return used > sizeof memory ? NULL : memory + used - size;
}

void free(void *block) {
    ended += (char *)block >= memory && (char *)block < memory + sizeof memory;
}

static void ignore(void *block) {}
void (*plugin_free)(void *) = ignore;

void *plugin_make(size_t size) {
    return NULL;
}

// Frees no block of the program: it has its own.
void plugin_end(void *block) {
    free(malloc(100));
}

int plugin_keep(void) {
    return ended == 20 ? 0 : 1;
}
