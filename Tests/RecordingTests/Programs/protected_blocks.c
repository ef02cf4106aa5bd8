// Holds blocks that no access is allowed to, and others that only those hold.
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, LARGE = 1 << 20 };

static void **kept[3];

static __attribute__((noinline)) void *hold(void) {
    return malloc(774);
}

static __attribute__((noinline)) void *leak(void) {
    return malloc(775);
}

static __attribute__((noinline)) void **make(size_t size, size_t aside) {
    void **block = aligned_alloc(PAGE, size);
    if (!block)
        abort();
    block[1] = hold();
    if (mprotect(block, aside, PROT_NONE) != 0)
        abort();
    return block;
}

int main(void) {
    kept[0] = make(PAGE, PAGE);
    kept[1] = make(LARGE, PAGE);
    kept[2] = make(LARGE, LARGE);
    leak();
    return 0;
}
