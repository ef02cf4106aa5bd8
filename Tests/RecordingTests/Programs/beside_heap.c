/* Frees a block of a heap (1051) that an allocator in a library has beside malloc, and one of
 * malloc (1052). */
#include <stdlib.h>

void *mi_heap_malloc(void *heap, size_t size);

int main(void) {
    free(mi_heap_malloc(NULL, 1051));
    free(malloc(1052));
    return 0;
}
