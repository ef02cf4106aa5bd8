/* Looks functions up. See loaded_symbols.h. */
#define _GNU_SOURCE
#include "loader/loaded_symbols.h"

#include "base/text.h"
#include "loader/loader_gate.h"
#include <elf.h>
#include <link.h>

struct search {
    const char *image_prefix, *name;
    uintptr_t found;
    size_t size;
};

static uint32_t gnu_hash(const char *name) {
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

struct dynamic_tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash;
};

/* glibc has relocated d_ptr in place, except for images it maps read-only (the vDSO), which lie
 * above what their tables say then. */
static bool read_dynamic(const struct dl_phdr_info *info, struct dynamic_tables *tables) {
    const ElfW(Dyn) *dynamic = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB)
            tables->symbols = (const ElfW(Sym) *)dynamic->d_un.d_ptr;
        else if (dynamic->d_tag == DT_STRTAB)
            tables->strings = (const char *)dynamic->d_un.d_ptr;
        else if (dynamic->d_tag == DT_GNU_HASH)
            tables->hash = (const uint32_t *)dynamic->d_un.d_ptr;
    }
    return tables->symbols && tables->strings && tables->hash &&
           (uintptr_t)tables->symbols >= info->dlpi_addr &&
           (uintptr_t)tables->hash >= info->dlpi_addr;
}

/* The symbol of this name with this value, or with any (0) if it is defined; NULL: none. */
static const ElfW(Sym) *
    find_any(const struct dynamic_tables *tables, const char *name, uintptr_t value) {
    /* DT_GNU_HASH: nbuckets, symoffset, bloom size, bloom shift, bloom, buckets, chains. */
    uint32_t buckets = tables->hash[0], offset = tables->hash[1], bloom = tables->hash[2];
    const uint32_t *bucket = tables->hash + 4 + bloom * (sizeof(uintptr_t) / 4);
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = gnu_hash(name);
    uint32_t symbol = buckets ? bucket[hash % buckets] : 0;
    if (symbol < offset)
        return NULL;
    for (;; symbol++) {
        uint32_t other = chain[symbol - offset];
        const ElfW(Sym) *entry = &tables->symbols[symbol];
        bool fits = value ? entry->st_value == value : entry->st_shndx != SHN_UNDEF;
        if ((other | 1) == (hash | 1) && fits &&
            mt_text_equal(tables->strings + entry->st_name, name))
            return entry;
        if (other & 1)
            return NULL;
    }
}

/* The same of a function. */
static const ElfW(Sym) *
    find_symbol(const struct dynamic_tables *tables, const char *name, uintptr_t value) {
    const ElfW(Sym) *symbol = find_any(tables, name, value);
    return symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ? symbol : NULL;
}

static int search_image(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct search *search = context;
    const char *file = mt_text_last_component(info->dlpi_name ? info->dlpi_name : "");
    struct dynamic_tables tables = {0};
    if (!mt_text_has_prefix(file, search->image_prefix) || !read_dynamic(info, &tables))
        return 0;
    const ElfW(Sym) *symbol = find_symbol(&tables, search->name, 0);
    if (!symbol)
        return 0;
    search->found = info->dlpi_addr + symbol->st_value;
    search->size = symbol->st_size;
    return 1;
}

uintptr_t mt_loaded_find_sized(const char *image_prefix, const char *name, size_t *size) {
    struct search search = {.image_prefix = image_prefix, .name = name};
    mt_loader_gate_visit(search_image, &search);
    *size = search.size;
    return search.found;
}

uintptr_t mt_loaded_find_function(const char *image_prefix, const char *name) {
    size_t size;
    return mt_loaded_find_sized(image_prefix, name, &size);
}

uintptr_t mt_loaded_find_own(const char *name) {
    extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
    uintptr_t start = (uintptr_t)&__ehdr_start;
    struct dl_phdr_info own = {
        .dlpi_addr = start,
        .dlpi_phdr = (const ElfW(Phdr) *)(start + __ehdr_start.e_phoff),
        .dlpi_phnum = __ehdr_start.e_phnum,
    };
    struct search search = {.image_prefix = "", .name = name};
    search_image(&own, sizeof own, &search);
    return search.found;
}

static bool holds(const struct dl_phdr_info *info, uintptr_t address) {
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            address - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz)
            return true;
    return false;
}

/* ---- What nobody else defines ---- */

struct definition {
    const char *name;
    uintptr_t known; /* in the image that may define it; 0: none */
};

/* Whether another image than ours and the known one defines the name, or may. */
static int may_define(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    const struct definition *definition = context;
    const char *file = mt_text_last_component(info->dlpi_name ? info->dlpi_name : "");
    struct dynamic_tables tables = {0};
    if (holds(info, (uintptr_t)&search_image) || mt_text_has_prefix(file, "linux-vdso") ||
        (definition->known && holds(info, definition->known)))
        return 0;
    return !read_dynamic(info, &tables) || find_any(&tables, definition->name, 0);
}

bool mt_loaded_is_only(const char *name, uintptr_t address) {
    struct definition definition = {.name = name, .known = address};
    return mt_loader_gate_visit(may_define, &definition) == 0;
}

bool mt_loaded_lacks(const char *name) {
    return mt_loaded_is_only(name, 0);
}

/* ---- What is at an address ---- */

struct kind_search {
    uintptr_t address;
    const char *name, *image;
    enum mt_symbol_kind kind;
};

static enum mt_symbol_kind kind_in(const struct dl_phdr_info *info,
                                   const struct kind_search *search) {
    struct dynamic_tables tables = {0};
    if (holds(info, (uintptr_t)&search_image))
        return MT_SYMBOL_OURS;
    const ElfW(Sym) *symbol =
        read_dynamic(info, &tables)
            ? find_symbol(&tables, search->name, search->address - info->dlpi_addr)
            : NULL;
    if (!symbol)
        return MT_SYMBOL_UNKNOWN;
    return symbol->st_shndx == SHN_UNDEF ? MT_SYMBOL_IMPORTED : MT_SYMBOL_DEFINED;
}

static int judge_image(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct kind_search *search = context;
    if (!holds(info, search->address))
        return 0;
    search->kind = kind_in(info, search);
    search->image = info->dlpi_name;
    return 1;
}

enum mt_symbol_kind mt_loaded_symbol_kind(uintptr_t address, const char *name, const char **image) {
    struct kind_search search = {.address = address, .name = name};
    mt_loader_gate_visit(judge_image, &search);
    *image = search.image;
    return search.kind;
}
