/* See namespaces.h. */
#define _GNU_SOURCE
#include "loader/namespaces.h"

#include "base/text.h"
#include "loader/bypassing.h"
#include "loader/loader_gate.h"
#include <dlfcn.h>
#include <stddef.h>

enum {
    HAS_NEXT = 2,    /* r_version of lists that lead on to the next namespace */
    NAMESPACES = 16, /* DL_NNS of glibc */
    IMAGES = 4096    /* of a namespace that are looked at */
};

/* r_debug_extended of glibc 2.35. */
struct namespace {
    struct r_debug list;
    struct namespace *next;
};

#pragma weak _r_debug

/* An executable that names _r_debug may have a copy of it, which has not changed since. */
static bool is_of_loader(const struct r_debug *list) {
    Dl_info image;
    return dladdr(list, &image) && (uintptr_t)image.dli_fbase == list->r_ldbase;
}

static bool has_c_library(const struct link_map *image) {
    for (int i = 0; image && i < IMAGES; i++, image = image->l_next)
        if (mt_text_equal(mt_text_last_component(image->l_name), "libc.so.6"))
            return true;
    return false;
}

static const struct namespace *next_of(const struct namespace *space) {
    return space->list.r_version >= HAS_NEXT ? space->next : NULL;
}

/* Called with the loader's lock held, which keeps the lists as they are. */
static int find(struct dl_phdr_info *info, size_t size, void *context) {
    const char **found = context;
    const struct namespace *space = next_of((const struct namespace *)&_r_debug);
    (void)info, (void)size;
    for (int i = 0; space && i < NAMESPACES; i++, space = next_of(space))
        if (has_c_library(space->list.r_map))
            found[i] = space->list.r_map->l_name;
    return 1;
}

void mt_namespaces_note(void) {
    const char *found[NAMESPACES] = {NULL};
    if (!&_r_debug || _r_debug.r_version < HAS_NEXT || !is_of_loader(&_r_debug))
        return;
    mt_loader_gate_visit(find, found);
    for (size_t i = 0; i < NAMESPACES; i++)
        if (found[i])
            mt_bypassing_note("allocator functions", found[i], false);
}
