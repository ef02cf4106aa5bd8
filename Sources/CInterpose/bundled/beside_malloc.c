/* See beside_malloc.h. */
#include "bundled/beside_malloc.h"

#include "base/config.h"
#include "base/text.h"
#include "bundled/bundled_allocator.h"
#include "bundled/replaced_blocks.h"
#include "loader/bypassing.h"
#include "loader/loaded_symbols.h"
#include "loader/real.h"
#include "loader/rebinding.h"
#include <string.h>

/* Those of jemalloc have none. */
static const char *const prefixes[] = {"", "je_", "mi_", "tc_"};

enum { PREFIXES = sizeof prefixes / sizeof *prefixes, LONGEST_NAME = 48 };

/* They tell how large a block is, as malloc_usable_size does. */
static const char *const sizes[] = {"sallocx",        "je_sallocx",     "je_malloc_usable_size",
                                    "mi_usable_size", "mi_malloc_size", "mi_malloc_usable_size",
                                    "tc_malloc_size"};

enum { SIZES = sizeof sizes / sizeof *sizes };
enum { MOST_FUNCTIONS = PREFIXES * MT_BUNDLED_FUNCTIONS + SIZES };

static struct {
    const char *image; /* the file name of the allocator; NULL: there is none */
    char names[MOST_FUNCTIONS][LONGEST_NAME];
    struct mt_rebinding functions[MOST_FUNCTIONS];
    size_t count;
    bool is_mimalloc;
} g_beside;

/* The library whose malloc stands in for the C library's. */
static const char *allocator_library(void) {
    const char *image = NULL;
    uintptr_t allocator = (uintptr_t)mt_real_allocator;
    if (mt_loaded_symbol_kind(allocator, "malloc", &image) != MT_SYMBOL_DEFINED || !image)
        return NULL;
    const char *name = mt_text_last_component(image);
    return *name && !mt_text_has_prefix(name, "libc.so.") ? name : NULL;
}

static void lead(const char *name, uintptr_t address, uintptr_t ours) {
    g_beside.functions[g_beside.count++] =
        (struct mt_rebinding){.name = name, .ours = ours, .next = address, .deep = address};
}

static void add(const char *library, const char *prefix, size_t function) {
    char *name = g_beside.names[g_beside.count];
    struct mt_text text = mt_text_begin(name, LONGEST_NAME);
    mt_text_add(&text, prefix);
    mt_text_add(&text, mt_bundled_functions[function].name);
    if (mt_loaded_find_own(name))
        return;
    uintptr_t address = mt_loaded_find_function(library, name);
    if (!address)
        return;
    uintptr_t real = mt_replaced_call(mt_bundled_functions[function].name, address);
    /* A hook calls one function. */
    if (mt_bundled_real[function] && mt_bundled_real[function] != real)
        return;
    mt_bundled_real[function] = real;
    lead(name, address, mt_bundled_functions[function].hook);
}

static void add_sizes(const char *library) {
    uintptr_t ours = mt_loaded_find_own("malloc_usable_size");
    for (size_t i = 0; i < SIZES && ours; i++) {
        uintptr_t address = mt_loaded_find_function(library, sizes[i]);
        if (address)
            lead(sizes[i], address, ours);
    }
}

void mt_beside_malloc_begin(void) {
    /* Who asks for what an executable brings along has the hooks for that. */
    if (mt_config.bundled_allocator)
        return;
    g_beside.image = allocator_library();
    if (!g_beside.image)
        return;
    for (size_t prefix = 0; prefix < PREFIXES; prefix++)
        for (size_t i = 0; i < MT_BUNDLED_FUNCTIONS; i++)
            if (!mt_bundled_functions[i].is_operator &&
                mt_bundled_may_have(prefixes[prefix], &mt_bundled_functions[i]))
                add(g_beside.image, prefixes[prefix], i);
    if (mt_are_blocks_replaced())
        add_sizes(g_beside.image);
    g_beside.is_mimalloc = mt_loaded_find_function(g_beside.image, "mi_heap_malloc") != 0;
}

static bool is_led(const char *name) {
    for (size_t i = 0; i < g_beside.count; i++)
        if (mt_text_equal(g_beside.functions[i].name, name))
            return true;
    return false;
}

/* One of mimalloc's that makes blocks, and is not led. There are some forty: what ends a heap ends
 * its blocks without a call for each, and a copy tells its size to nobody. */
static bool is_unseen(const char *name) {
    bool makes_blocks = mt_text_has_prefix(name, "mi_new") || strstr(name, "alloc") ||
                        strstr(name, "dup") || strstr(name, "realpath") || strstr(name, "memalign");
    return mt_text_has_prefix(name, "mi_") && makes_blocks && !mt_text_has_suffix(name, "_size") &&
           !is_led(name);
}

/* Whose blocks are freed as all others are: a free of one is no error. */
static void note_unseen(const struct mt_loaded_image *image) {
    const char *called = mt_rebinding_find_used(image, is_unseen);
    if (called)
        mt_bypassing_note(called, image->path, true);
}

bool mt_beside_malloc_look(const struct mt_loaded_image *image) {
    struct mt_rebound found;
    if (g_beside.count == 0 || mt_real_is_ours(image->bias) ||
        mt_text_equal(mt_text_last_component(image->path), g_beside.image))
        return true;
    if (!mt_rebinding_is_relocated(image))
        return false;
    mt_rebind_image(image, g_beside.functions, g_beside.count, &found);
    if (g_beside.is_mimalloc)
        note_unseen(image);
    return true;
}
