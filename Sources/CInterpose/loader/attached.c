/* See attached.h. */
#define _GNU_SOURCE
#include "loader/attached.h"

#include "base/text.h"
#include "loader/bypassing.h"
#include "loader/hook_names.h"
#include "loader/image_map.h"
#include "loader/loaded_symbols.h"
#include "loader/real.h"
#include "loader/rebinding.h"
#include <dlfcn.h>
#include <errno.h>

bool mt_is_attached;

static struct mt_rebinding g_functions[MT_HOOK_NAMES];
static size_t g_count; /* of these, that are rebound */

/* Ours calls the C library's allocator or a library's: what an operator of the program's own does
 * would be left out. */
static bool may_stand_for(const struct mt_rebinding *function) {
    Dl_info image;
    if (!mt_text_has_prefix(function->name, "_Z"))
        return true;
    return dladdr((const void *)function->next, &image) && image.dli_fname &&
           (mt_text_has_prefix(mt_text_last_component(image.dli_fname), "libstdc++") ||
            mt_text_has_prefix(mt_text_last_component(image.dli_fname), "libc++"));
}

const char *mt_attached_begin(void) {
    const char *image = NULL;
    g_count = mt_hook_names_wanted();
    for (size_t i = 0; i < g_count; i++)
        g_functions[i].name = mt_hook_names_at(i);
    mt_rebinding_look_up(g_functions, g_count);
    for (size_t i = 0; i < g_count; i++) {
        if (g_functions[i].next && !may_stand_for(&g_functions[i]))
            g_functions[i].next = 0;
        g_functions[i].deep = g_functions[i].next;
    }
    /* An executable calls its own functions directly. */
    uintptr_t allocator = (uintptr_t)mt_real_allocator;
    enum mt_symbol_kind kind = mt_loaded_symbol_kind(allocator, "malloc", &image);
    return kind == MT_SYMBOL_DEFINED && image && !*image ? program_invocation_name : NULL;
}

bool mt_attached_look(const struct mt_loaded_image *image) {
    struct mt_rebound found;
    if (!mt_is_attached || mt_real_is_ours(image->bias))
        return true;
    if (!mt_rebinding_is_relocated(image))
        return false;
    if (mt_rebinding_is_apart(image, g_functions, MT_ALLOCATOR_NAMES))
        mt_bypassing_note("allocator functions", image->path, false);
    else if (mt_rebind_image(image, g_functions, g_count, &found) && found.bypassed)
        mt_bypassing_note(found.bypassed, image->path, false);
    return true;
}
