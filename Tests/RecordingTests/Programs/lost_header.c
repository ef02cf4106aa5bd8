/* Frees a block, or asks for more of it, although somebody has written over what the allocator
 * keeps in front of it. */
#include <stdint.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    (void)arguments;
    uint64_t *volatile block = malloc(24);
    void *volatile behind = malloc(24);
    block[-1] |= UINT64_C(1) << 40;
    if (count > 1)
        block = realloc(block, 100);
    free(block);
    free(behind);
    return 0;
}
