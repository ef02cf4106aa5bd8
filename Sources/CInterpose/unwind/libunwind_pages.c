/* See libunwind_pages.h. */
#define _GNU_SOURCE
#include "unwind/libunwind_pages.h"

#include "loader/loader_gate.h"
#include "loader/real.h"
#include "loader/rebinding.h"
#include <errno.h>
#include <link.h>
#include <string.h>

/* What mincore would say of pages that are mapped and in memory. */
static int tell_pages(void *start, size_t length, unsigned char *pages) {
    size_t count = (length + MT_PAGE_SIZE - 1) / MT_PAGE_SIZE;
    for (size_t i = 0; i < count; i++)
        if (!mt_os_is_readable((uintptr_t)start + i * MT_PAGE_SIZE)) {
            errno = ENOMEM;
            return -1;
        }
    memset(pages, 1, count);
    return 0;
}

struct binder {
    uintptr_t bias; /* of libunwind */
    struct mt_rebinding function;
};

static int bind(struct dl_phdr_info *info, size_t size, void *context) {
    const struct binder *binder = context;
    struct mt_loaded_image image = mt_loaded_image_of(info);
    struct mt_rebound found;
    (void)size;
    if (info->dlpi_addr != binder->bias)
        return 0;
    mt_rebind_image(&image, &binder->function, 1, &found);
    return 1;
}

void mt_libunwind_answer_for_pages(void *library) {
    /* The handle is what describes the library, as in all versions of glibc. */
    const struct link_map *object = library;
    struct binder binder = {
        .bias = object->l_addr,
        .function = {.name = "mincore",
                     .ours = (uintptr_t)tell_pages,
                     .next = (uintptr_t)mt_real_symbol(library, "mincore")},
    };
    mt_loader_gate_visit(bind, &binder);
}
