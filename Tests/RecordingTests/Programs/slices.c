/* Keeps blocks in parts of slabs as GLib's slice allocator has them until 2.76: a slab's address is
 * a multiple of its alignment, and at its end is a description that is linked with its neighbors'.
 */
#include <stdio.h>
#include <stdlib.h>

enum { ALIGNMENT = 512, SIZE = ALIGNMENT - 16, HELD = 20 };

struct description {
    void *parts;
    unsigned used;
    struct description *next, *previous;
};

static void *kept_parts[3];

static struct description *description(char *slab) {
    return (struct description *)(slab + ALIGNMENT - 48);
}

static char *slab(void) {
    void *memory;
    if (posix_memalign(&memory, ALIGNMENT, SIZE))
        exit(1);
    for (int i = 0; i < SIZE / 8; i++)
        ((void **)memory)[i] = NULL;
    return memory;
}

static void fill(char *slab) {
    for (int i = 0; i < HELD; i++)
        ((void **)slab)[4 + i] = malloc(24);
}

static void overwrite_stack(void) {
    volatile char bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
}

static void make(void) {
    char *first = slab(), *second = slab(), *other = slab();
    *description(first) = (struct description){NULL, 1, description(second), description(second)};
    *description(second) = (struct description){NULL, 1, description(first), description(first)};
    fill(first);
    fill(second);
    fill(other);
    /* Nobody points to the beginning of any of them. The last one is in no ring. */
    kept_parts[0] = first + 32;
    kept_parts[1] = other + 32;
}

int main(void) {
    make();
    overwrite_stack();
    printf("%d\n", kept_parts[0] != NULL);
    return 0;
}
