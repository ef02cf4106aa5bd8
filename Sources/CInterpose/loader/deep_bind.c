/* See deep_bind.h. */
#define _GNU_SOURCE
#include "loader/deep_bind.h"

#include "base/os.h"
#include "base/text.h"
#include "base/tls.h"
#include "loader/bypassing.h"
#include "loader/hook_names.h"
#include "loader/image_map.h"
#include "loader/loader_gate.h"
#include "loader/real.h"
#include "loader/rebinding.h"
#include "trace/meta_writer.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

enum { MOST_IMAGES = 4096 };

struct loaded {
    uintptr_t bias, headers;
};

struct mt_deep_bind {
    struct loaded images[MOST_IMAGES];
    size_t count;
};

/* ---- Images ---- */

static int add_image(struct dl_phdr_info *info, size_t size, void *context) {
    struct mt_deep_bind *list = context;
    (void)size;
    if (list->count == MOST_IMAGES)
        return 1;
    list->images[list->count++] = (struct loaded){info->dlpi_addr, (uintptr_t)info->dlpi_phdr};
    return 0;
}

struct mt_deep_bind *mt_deep_bind_begin(void) {
    struct mt_deep_bind *list = mt_os_map_pages(sizeof *list);
    if (list)
        mt_loader_gate_visit(add_image, list);
    return list;
}

static bool was_there(const struct mt_deep_bind *before, const struct dl_phdr_info *info) {
    for (size_t i = 0; i < before->count; i++)
        if (before->images[i].bias == info->dlpi_addr &&
            before->images[i].headers == (uintptr_t)info->dlpi_phdr)
            return true;
    return false;
}

/* ---- Whose search path ---- */

/* The kernel's own image opens nothing, whatever path the kernel was linked with. */
static int has_search_path(struct dl_phdr_info *info, size_t size, void *context) {
    const ElfW(Dyn) *entry = NULL;
    (void)size;
    (void)context;
    if (mt_text_has_prefix(info->dlpi_name ? info->dlpi_name : "", "linux-vdso"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH ||
            (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NODEFLIB)))
            return 1;
    return 0;
}

bool mt_deep_bind_may_call(const char *file) {
    bool is_path = false;
    for (const char *at = file; *at; at++) {
        if (*at == '$')
            return false;
        is_path |= *at == '/';
    }
    if (is_path)
        return true;
    /* While a fork is under way, there may be one. */
    return mt_loader_gate_visit(has_search_path, NULL) == 0;
}

/* ---- What is new ---- */

/* By which a library finds the allocator's functions by a handle, and opens others so in its turn.
 */
static const char *const loader_names[] = {"dlsym", "dlopen", "dlmopen"};
enum { LOADER_NAMES = sizeof loader_names / sizeof *loader_names };

struct binder {
    const struct mt_deep_bind *before;
    struct mt_rebinding functions[MT_ALLOCATOR_NAMES];
    struct mt_rebinding loader[LOADER_NAMES];
};

static void look_up(struct mt_rebinding *functions, const char *const *names, size_t count,
                    void *handle) {
    for (size_t i = 0; i < count; i++)
        functions[i].name = names[i];
    mt_rebinding_look_up(functions, count);
    /* In the library and what it needs, then in the global scope, which has ours. */
    for (size_t i = 0; i < count; i++)
        functions[i].deep = (uintptr_t)mt_real_symbol(handle, names[i]);
}

/* Before the images are looked at: dlsym takes a lock of the loader that comes first. */
static void look_up_functions(struct binder *binder, void *handle) {
    look_up(binder->functions, mt_allocator_names, MT_ALLOCATOR_NAMES, handle);
    look_up(binder->loader, loader_names, LOADER_NAMES, handle);
    dlerror();
}

static int bind_image(struct dl_phdr_info *info, size_t size, void *context) {
    const struct binder *binder = context;
    struct mt_loaded_image image = mt_loaded_image_of(info);
    struct mt_rebound found, ignored;
    (void)size;
    if (was_there(binder->before, info) ||
        !mt_rebind_image(&image, binder->functions, MT_ALLOCATOR_NAMES, &found))
        return 0;
    mt_rebind_image(&image, binder->loader, LOADER_NAMES, &ignored);
    if (found.bypassed)
        mt_bypassing_note(found.bypassed, image.path, false);
    if (found.redirected > 0)
        mt_meta_note(MT_NOTE_REBOUND, found.were_bound && found.has_initialisers, image.path);
    return 0;
}

void mt_deep_bind_end(struct mt_deep_bind *before, void *handle) {
    int saved = errno;
    if (handle) {
        struct binder binder = {.before = before};
        uint32_t inside = mt_tls.inside, is_own = mt_tls.is_own;
        mt_tls.inside = mt_tls.is_own = 1;
        look_up_functions(&binder, handle);
        if (before->count > 0 && before->count < MOST_IMAGES)
            mt_loader_gate_visit(bind_image, &binder);
        mt_tls.inside = inside;
        mt_tls.is_own = is_own;
    }
    mt_os_unmap_pages(before, sizeof *before);
    errno = saved;
}

void mt_deep_bind_note_unseen(const char *file) {
    mt_bypassing_note("allocator functions", file, false);
}

/* ---- Opened by the host's own call ---- */

enum { MOST_AWAITED = 32, LONGEST_NAME = 64 };

/* File names, the oldest of which gives way: by then it has come, or never will. Without a lock,
 * which a forked child might find taken: a name begins with 0 while it is written. */
static struct {
    uint32_t next;
    char names[MOST_AWAITED][LONGEST_NAME];
} g_awaited;

static void await(const char *name, size_t size) {
    uint32_t turn = __atomic_fetch_add(&g_awaited.next, 1, __ATOMIC_RELAXED);
    char *slot = g_awaited.names[turn % MOST_AWAITED];
    __atomic_store_n(slot, 0, __ATOMIC_RELEASE);
    memcpy(slot + 1, name + 1, size - 1);
    __atomic_store_n(slot, name[0], __ATOMIC_RELEASE);
}

void mt_deep_bind_await(const char *file) {
    int saved = errno;
    const char *name = mt_text_last_component(file);
    size_t size = mt_text_length(name) + 1;
    mt_image_map_refresh(); /* what was awaited before has come by now */
    if (size <= LONGEST_NAME)
        await(name, size);
    else
        mt_deep_bind_note_unseen(file);
    errno = saved;
}

void mt_deep_bind_meet(const struct mt_loaded_image *image) {
    const char *name = mt_text_last_component(image->path);
    for (uint32_t i = 0; *name && i < MOST_AWAITED; i++) {
        char *awaited = g_awaited.names[i];
        if (!__atomic_load_n(awaited, __ATOMIC_ACQUIRE) || !mt_text_equal(awaited, name))
            continue;
        __atomic_store_n(awaited, 0, __ATOMIC_RELEASE);
        mt_deep_bind_note_unseen(image->path);
    }
}
