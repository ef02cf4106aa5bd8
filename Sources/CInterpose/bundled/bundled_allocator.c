/* See bundled_allocator.h. */
#include "bundled/bundled_allocator.h"

#include "base/config.h"
#include "base/proc_numbers.h"
#include "base/text.h"
#include "bundled/bundled_functions.h"
#include "bundled/call_sites.h"
#include "loader/attached.h"
#include "loader/real.h"
#include "loader/rebinding.h"
#include "trace/meta_writer.h"
#include "trace/trace_file.h"
#include <elf.h>
#include <errno.h>
#include <string.h>

/* How their functions are called; what replaces the C library's comes first. */
static const char *const prefixes[] = {"", "je_", "_rjem_", "mi_", "tc_"};

enum { PREFIXES = sizeof prefixes / sizeof *prefixes, LONGEST_NAME = 48 };

/* Only with this prefix: without one, a program may have functions of these names. */
static const char mimalloc_prefix[] = "mi_";
static const char *const mimalloc_names[] = {
    "malloc_small",     "mallocn",  "malloc_aligned", "zalloc",          "zalloc_small",
    "zalloc_aligned",   "reallocn", "calloc_aligned", "realloc_aligned", "rezalloc",
    "rezalloc_aligned", "recalloc", "free_size",      "free_aligned",    "free_size_aligned"};

/* What tells that operator new is the allocator's, and not the program's: it is also called so, or
 * it calls this function of jemalloc_cpp.cpp. */
static const char *const signs_of_operators[] = {"tc_new", "mi_new", "_ZL9handleOOMmb"};

enum {
    SIGNS = sizeof signs_of_operators / sizeof *signs_of_operators,
    NAMES = PREFIXES * MT_BUNDLED_FUNCTIONS,
    WANTED = NAMES + SIGNS
};

static struct {
    const char *path; /* of the image that has it; NULL: none was found */
    bool has_looked;  /* at the executable */
    bool are_alike;   /* operator delete and free, or others, are one function */
    long error;       /* why its calls do not lead to hooks */
    uint64_t changed; /* how many do */
    char names[NAMES][LONGEST_NAME];
    struct mt_wanted_symbol wanted[WANTED]; /* by prefix, then by function; then the signs */
    struct mt_rebinding functions[NAMES];   /* of those that are there */
    size_t count;
    struct mt_call_target targets[MT_BUNDLED_FUNCTIONS]; /* each function once */
    size_t target_count;
} g_bundled;

/* ---- What an image has ---- */

static size_t place_of(size_t prefix, size_t function) {
    return prefix * MT_BUNDLED_FUNCTIONS + function;
}

static size_t find_function(const char *name) {
    for (size_t i = 0; i < MT_BUNDLED_FUNCTIONS; i++)
        if (mt_text_equal(mt_bundled_functions[i].name, name))
            return i;
    return 0;
}

static bool is_only_mimalloc(const char *name) {
    for (size_t i = 0; i < sizeof mimalloc_names / sizeof *mimalloc_names; i++)
        if (mt_text_equal(mimalloc_names[i], name))
            return true;
    return false;
}

bool mt_bundled_may_have(const char *prefix, const struct mt_bundled_function *function) {
    if (function->is_operator)
        return !*prefix;
    return mt_text_equal(prefix, mimalloc_prefix) || !is_only_mimalloc(function->name);
}

static void name_all(void) {
    for (size_t prefix = 0; prefix < PREFIXES; prefix++)
        for (size_t i = 0; i < MT_BUNDLED_FUNCTIONS; i++) {
            char *name = g_bundled.names[place_of(prefix, i)];
            struct mt_text text = mt_text_begin(name, LONGEST_NAME);
            if (mt_bundled_may_have(prefixes[prefix], &mt_bundled_functions[i])) {
                mt_text_add(&text, prefixes[prefix]);
                mt_text_add(&text, mt_bundled_functions[i].name);
            }
            g_bundled.wanted[place_of(prefix, i)].name = name;
        }
    for (size_t i = 0; i < SIGNS; i++)
        g_bundled.wanted[NAMES + i].name = signs_of_operators[i];
}

static bool is_code(const struct mt_loaded_image *image, uintptr_t address) {
    for (int i = 0; i < image->program_header_count; i++) {
        const ElfW(Phdr) *header = &image->program_headers[i];
        if (header->p_type == PT_LOAD && header->p_flags & PF_X &&
            address - image->bias - header->p_vaddr < header->p_filesz)
            return true;
    }
    return false;
}

static bool find_all(const struct mt_loaded_image *image) {
    struct mt_elf_file file;
    if (!mt_elf_open(&file, image))
        return false;
    name_all();
    for (size_t i = 0; i < WANTED; i++)
        g_bundled.wanted[i].address = 0;
    mt_elf_find_symbols(&file, SHT_SYMTAB, image, g_bundled.wanted, WANTED, "malloc");
    mt_elf_find_symbols(&file, SHT_DYNSYM, image, g_bundled.wanted, WANTED, "malloc");
    mt_elf_close(&file);
    for (size_t i = 0; i < WANTED; i++)
        if (!is_code(image, g_bundled.wanted[i].address))
            g_bundled.wanted[i].address = 0;
    return true;
}

static uintptr_t address_of(size_t prefix, const char *name) {
    return g_bundled.wanted[place_of(prefix, find_function(name))].address;
}

/* ---- Which of them are hooked ---- */

/* Linkers leave out what nobody calls: programs in Rust give blocks back with their size only. */
static bool has_allocator(size_t prefix) {
    return address_of(prefix, "malloc") &&
           (address_of(prefix, "free") || address_of(prefix, "sdallocx") ||
            address_of(prefix, "dallocx"));
}

/* returns  the first prefix of an allocator, from one on; PREFIXES when there is none */
static size_t find_prefix(size_t prefix) {
    while (prefix < PREFIXES && !has_allocator(prefix))
        prefix++;
    return prefix;
}

/* Whether operator new and delete are part of the allocator: else they are the program's, which
 * call it, and may do more. */
static bool has_operators(void) {
    uintptr_t new = address_of(0, "_Znwm"), delete = address_of(0, "_ZdlPv");
    if (!new || !delete)
        return false;
    for (size_t i = 0; i < SIGNS; i++) {
        uintptr_t sign = g_bundled.wanted[NAMES + i].address;
        if (sign == new || (sign && mt_text_has_prefix(signs_of_operators[i], "_Z")))
            return true;
    }
    return delete == address_of(0, "free");
}

/* Makes a function lead to its hook, or to that of the same function by another name. */
static uintptr_t hook_for(size_t function, uintptr_t address) {
    for (size_t i = 0; i < g_bundled.target_count; i++)
        if (g_bundled.targets[i].function == address) {
            g_bundled.are_alike |= mt_bundled_functions[function].is_operator;
            return g_bundled.targets[i].ours;
        }
    if (mt_bundled_real[function])
        return 0;
    uintptr_t hook = mt_bundled_functions[function].hook;
    mt_bundled_real[function] = address;
    g_bundled.targets[g_bundled.target_count++] = (struct mt_call_target){address, hook};
    return hook;
}

static void hook_prefix(size_t prefix, bool hooks_operators) {
    for (size_t i = 0; i < MT_BUNDLED_FUNCTIONS; i++) {
        uintptr_t address = g_bundled.wanted[place_of(prefix, i)].address;
        if (!address || (mt_bundled_functions[i].is_operator && !hooks_operators))
            continue;
        uintptr_t hook = hook_for(i, address);
        if (hook)
            g_bundled.functions[g_bundled.count++] =
                (struct mt_rebinding){.name = g_bundled.names[place_of(prefix, i)],
                                      .ours = hook,
                                      .next = address,
                                      .deep = address};
    }
}

/* An operator that throws is called by way of the one that does not. */
static bool are_operators_whole(void) {
    static const char *const quiet[] = {"_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t",
                                        "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                        "_ZnamSt11align_val_tRKSt9nothrow_t"};
    static const char *const loud[] = {"_Znwm", "_Znam", "_ZnwmSt11align_val_t",
                                       "_ZnamSt11align_val_t"};
    for (size_t i = 0; i < 4; i++)
        if (address_of(0, loud[i]) && !address_of(0, quiet[i]))
            return false;
    return true;
}

/* The same functions by other names are the same allocator's, and so are others beside them. */
static void hook_all(size_t first) {
    bool hooks_operators = first == 0 && has_operators() && are_operators_whole();
    hook_prefix(first, hooks_operators);
    for (size_t prefix = first + 1; prefix < PREFIXES; prefix++)
        if (address_of(prefix, "malloc") == address_of(first, "malloc"))
            hook_prefix(prefix, false);
}

/* ---- What the trace says ---- */

bool mt_bundled_reaches(const char *name) {
    for (size_t i = 0; i < g_bundled.count; i++)
        if (mt_text_equal(g_bundled.functions[i].name, name))
            return true;
    return false;
}

/* The functions that calls may lead to, by their first names. */
static void note_functions(void) {
    static char buffer[MT_BUNDLED_FUNCTIONS * (LONGEST_NAME + 2)]; /* perhaps with little stack */
    struct mt_text text = mt_text_begin(buffer, sizeof buffer);
    for (size_t i = 0; i < g_bundled.count && i < g_bundled.target_count; i++) {
        if (i > 0)
            mt_text_add(&text, ", ");
        mt_text_add(&text, g_bundled.functions[i].name);
    }
    mt_meta_note_about(MT_NOTE_BUNDLED, g_bundled.changed, buffer, g_bundled.path);
}

void mt_bundled_note(void) {
    if (g_bundled.count > 0) {
        note_functions();
        if (g_bundled.are_alike)
            mt_trace_file_note_one_family();
    } else if (g_bundled.error < 0) {
        mt_meta_note_about(MT_NOTE_TEXT, (uint64_t)-g_bundled.error,
                           g_bundled.error == -EBUSY
                               ? "an allocator is not recorded, since there were threads before it"
                               : "an allocator is not recorded, since its code may not be changed",
                           g_bundled.path);
    }
}

/* ---- Images ---- */

static void count_thread(uint64_t number, int directory, void *context) {
    (void)number;
    (void)directory;
    ++*(uint64_t *)context;
}

/* Code may only be written while nobody executes it. */
static bool is_only_thread(void) {
    uint64_t threads = 0;
    return mt_proc_numbers("/proc/self/task", count_thread, &threads) == 0 && threads == 1;
}

static long lead_to_hooks(const struct mt_loaded_image *image) {
    if (!is_only_thread())
        return -EBUSY;
    return mt_call_sites_redirect(image, g_bundled.targets, g_bundled.target_count,
                                  &g_bundled.changed);
}

/* A library's malloc is for everybody, and hooked by its name. One that it has for itself has a
 * prefix. */
static size_t find_allocator(const struct mt_loaded_image *image, bool is_library) {
    if (!find_all(image) || (is_library && address_of(0, "malloc")))
        return PREFIXES;
    return find_prefix(is_library ? 1 : 0);
}

/* The first that has one: the hooks know one function of each name. */
static void look_for_allocator(const struct mt_loaded_image *image) {
    bool is_library = g_bundled.has_looked;
    g_bundled.has_looked = true;
    size_t prefix = find_allocator(image, is_library);
    if (prefix == PREFIXES)
        return;
    hook_all(prefix);
    g_bundled.path = image->path;
    g_bundled.error = lead_to_hooks(image);
    if (g_bundled.error < 0)
        g_bundled.count = 0;
    mt_bundled_note();
}

bool mt_bundled_look(const struct mt_loaded_image *image) {
    struct mt_rebound found;
    if (!mt_config.bundled_allocator || mt_is_attached || mt_real_is_ours(image->bias))
        return true;
    if (!mt_rebinding_is_relocated(image))
        return false;
    if (!g_bundled.path)
        look_for_allocator(image);
    if (g_bundled.count == 0)
        return true;
    if (mt_rebind_image(image, g_bundled.functions, g_bundled.count, &found))
        g_bundled.changed += found.redirected;
    return true;
}
