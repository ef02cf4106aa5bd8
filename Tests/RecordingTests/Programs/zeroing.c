/* Has a calloc of its own, which calls the C library by a name that no preloaded library comes
 * between; or malloc, which is recorded. */
#include <stdlib.h>
#include <string.h>

#ifdef BY_MALLOC
void *calloc(size_t count, size_t size) {
    void *block = malloc(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}
#else
extern void *__libc_calloc(size_t count, size_t size);

void *calloc(size_t count, size_t size) {
    return __libc_calloc(count, size);
}
#endif

int main(void) {
    for (int i = 0; i < 3; i++) {
        void *volatile zeroed = calloc(1, 1001);
        free(zeroed);
    }
    void *volatile block = malloc(1002);
    free(block);
    return 0;
}
