/* An allocator in a library, which stands in for the C library's. Of a block that is not its own it
 * tells a wrong size. */
#include "bundled_allocator.h"

size_t malloc_usable_size(void *block) {
    return block ? ((struct header *)block)[-1].size : 0;
}

size_t sallocx(void *block, int flags) {
    return malloc_usable_size(block);
}

void *mi_heap_malloc(void *heap, size_t size) {
    return heap ? NULL : malloc(size);
}

void *mi_heap_new(void) {
    return NULL;
}

void *mi_new_n(size_t count, size_t size) {
    return malloc(count * size);
}

char *mi_realpath(const char *name, char *path) {
    (void)name, (void)path;
    return malloc(1051);
}

size_t mi_malloc_good_size(size_t size) {
    return size;
}
