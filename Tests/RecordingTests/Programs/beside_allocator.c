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
