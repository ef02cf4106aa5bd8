// Allocates for each image that is loaded, as an auditor, with the C library of its namespace.
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>

unsigned int la_version(unsigned int version) {
    return version;
}

unsigned int la_objopen(struct link_map *image, Lmid_t space, uintptr_t *cookie) {
    void *volatile block = malloc(1002);
    free(block);
    (void)image, (void)space, (void)cookie;
    return 0;
}
