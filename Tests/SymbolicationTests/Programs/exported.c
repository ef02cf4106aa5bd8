/* One function that the dynamic symbol table knows, and one that it does not. */
#include <stdlib.h>

static __attribute__((noinline)) void *hidden_helper(size_t size) {
    return malloc(size);
}

void *exported_entry(size_t size) {
    return hidden_helper(size);
}

int main(void) {
    free(exported_entry(16));
    return 0;
}
