/* Frees a block (1051) that the function MAKER of an allocator in a library has made, beside
 * malloc, and one of malloc (1052). */
#include <stdlib.h>

void *mi_heap_new(void);
void *mi_heap_malloc(void *heap, size_t size);
void *mi_new_n(size_t count, size_t size);
char *mi_realpath(const char *name, char *path);
size_t mi_malloc_good_size(size_t size);

int main(void) {
    free(MAKER);
    free(malloc(1052));
    return mi_heap_new() != NULL || mi_malloc_good_size(0) != 0;
}
