/* See beside_malloc.h. */
#include "bundled/beside_malloc.h"

#include "base/config.h"
#include "base/text.h"
#include "bundled/bundled_allocator.h"
#include "loader/attached.h"
#include "loader/loaded_symbols.h"
#include "loader/real.h"
#include "loader/rebinding.h"

/* Those of jemalloc have none. */
static const char *const prefixes[] = {"", "je_", "mi_", "tc_"};

enum { PREFIXES = sizeof prefixes / sizeof *prefixes, LONGEST_NAME = 48 };
enum { MOST_NAMES = PREFIXES * MT_BUNDLED_FUNCTIONS };

static struct {
    const char *image; /* the file name of the allocator; NULL: there is none */
    char names[MOST_NAMES][LONGEST_NAME];
    struct mt_rebinding functions[MOST_NAMES];
    size_t count;
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

/* Where blocks of malloc are put elsewhere, or get something behind them (heap_checks.h), the
 * allocator does not know them: its function that ends or resizes any block may get such a one. */
static bool are_blocks_replaced(void) {
    return (const void *)(uintptr_t)mt_real.malloc != mt_real_allocator;
}

/* jemalloc(3): MALLOCX_ALIGN and MALLOCX_ZERO; the others say where it is to look for memory. */
enum { ALIGNS_OR_CLEARS = 0x7f };

static void *(*real_rallocx)(void *block, size_t size, int flags);

static void *resize_by_rallocx(void *block, size_t size, int flags) {
    return flags & ALIGNS_OR_CLEARS ? real_rallocx(block, size, flags)
                                    : mt_real.realloc(block, size);
}

/* returns  what a hook is to call in place of a function */
static uintptr_t replacement(const char *name, uintptr_t address) {
    /* What else than the block they are given is in registers that free does not look at. */
#define MT_END(function, ...)                                                                      \
    if (mt_text_equal(name, #function))                                                            \
        return (uintptr_t)mt_real.free;
    MT_FOR_EACH_BUNDLED_ENDER(MT_END)
    if (mt_text_equal(name, "realloc"))
        return (uintptr_t)mt_real.realloc;
    if (!mt_text_equal(name, "rallocx"))
        return address;
    __builtin_memcpy(&real_rallocx, &address, sizeof real_rallocx);
    return (uintptr_t)resize_by_rallocx;
}

static void add(const char *library, const char *prefix, size_t function) {
    char *name = g_beside.names[g_beside.count];
    struct mt_text text = mt_text_begin(name, LONGEST_NAME);
    mt_text_add(&text, prefix);
    mt_text_add(&text, mt_bundled_functions[function].name);
    if (mt_loaded_find_own(name))
        return;
    uintptr_t address = mt_loaded_find_function(library, name);
    /* A hook calls one function. */
    if (!address)
        return;
    uintptr_t real =
        are_blocks_replaced() ? replacement(mt_bundled_functions[function].name, address) : address;
    if (mt_bundled_real[function] && mt_bundled_real[function] != real)
        return;
    mt_bundled_real[function] = real;
    g_beside.functions[g_beside.count++] =
        (struct mt_rebinding){.name = name,
                              .ours = mt_bundled_functions[function].hook,
                              .next = address,
                              .deep = address};
}

void mt_beside_malloc_begin(void) {
    /* Who asks for what an executable brings along has the hooks for that. */
    if (mt_config.bundled_allocator || mt_is_attached)
        return;
    g_beside.image = allocator_library();
    if (!g_beside.image)
        return;
    for (size_t prefix = 0; prefix < PREFIXES; prefix++)
        for (size_t i = 0; i < MT_BUNDLED_FUNCTIONS; i++)
            if (!mt_bundled_functions[i].is_operator &&
                mt_bundled_may_have(prefixes[prefix], &mt_bundled_functions[i]))
                add(g_beside.image, prefixes[prefix], i);
}

bool mt_beside_malloc_look(const struct mt_loaded_image *image) {
    struct mt_rebound found;
    if (g_beside.count == 0 || mt_real_is_ours(image->bias) ||
        mt_text_equal(mt_text_last_component(image->path), g_beside.image))
        return true;
    if (!mt_rebinding_is_relocated(image))
        return false;
    mt_rebind_image(image, g_beside.functions, g_beside.count, &found);
    return true;
}
