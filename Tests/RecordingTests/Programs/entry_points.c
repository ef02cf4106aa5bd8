// Every C entry point once, with sizes that nothing else asks for: 10001, 10002 ...
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static void *aligned(size_t alignment, size_t size) {
    void *block = NULL;
    if (posix_memalign(&block, alignment, size) != 0)
        abort();
    return block;
}

int main(void) {
    free(malloc(10001));
    free(calloc(2, 5001)); // 10002
    free(realloc(NULL, 10003));
    void *moved = malloc(10004);
    moved = realloc(moved, 90004);
    free(moved);
    free(reallocarray(NULL, 5, 2001)); // 10005
    free(aligned(64, 10006));
    free(aligned_alloc(64, 10048));
    free(memalign(128, 10008));
    free(valloc(10009));
    free(pvalloc(10010));
    void *emptied = malloc(10011);
    emptied = realloc(emptied, 0); // frees it
    if (malloc_usable_size(NULL) != 0 || emptied != NULL)
        abort();
    void *kept = malloc(10012);
    if (malloc_usable_size(kept) < 10012)
        abort();
    free(NULL); // no event

    // C23, newer than the C library: only the recorder has them.
    void (*free_sized)(void *, size_t) =
        (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
    void *sized = malloc(10013);
    if (free_sized != NULL)
        free_sized(sized, 10013);
    else
        free(sized);
    void (*free_aligned_sized)(void *, size_t, size_t) =
        (void (*)(void *, size_t, size_t))dlsym(RTLD_DEFAULT, "free_aligned_sized");
    void *both = aligned_alloc(64, 10112);
    if (free_aligned_sized != NULL)
        free_aligned_sized(both, 64, 10112);
    else
        free(both);

    // Failures leave no block behind.
    volatile size_t huge = (size_t)1 << 62;
    if (malloc(huge) != NULL || calloc(huge, 16) != NULL || reallocarray(NULL, huge, 16) != NULL)
        abort();
    void *survivor = malloc(10014);
    if (realloc(survivor, huge) != NULL)
        abort();
    free(survivor);
    puts("done");
    return 0;
}
