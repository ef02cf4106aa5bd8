/* See rebinding.h. */
#define _GNU_SOURCE
#include "loader/rebinding.h"

#include "base/text.h"
#include "loader/image_map.h"
#include "loader/loaded_symbols.h"
#include "loader/real.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
enum {
    CALLED = R_X86_64_JUMP_SLOT,
    LOADED = R_X86_64_GLOB_DAT,
    STORED = R_X86_64_64,
    RELATIVE = R_X86_64_RELATIVE
};
#else
enum {
    CALLED = R_AARCH64_JUMP_SLOT,
    LOADED = R_AARCH64_GLOB_DAT,
    STORED = R_AARCH64_ABS64,
    RELATIVE = R_AARCH64_RELATIVE
};
#endif

/* ---- What an image says of itself ---- */

struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * relocations[2]; /* of data, of calls */
    size_t counts[2];
    size_t relative_count; /* of the former, at the beginning, that name no symbol */
    size_t initialiser_count;
    uintptr_t start, end;
    uintptr_t relro_start, relro_end;
};

static const ElfW(Dyn) * read_headers(const struct mt_loaded_image *image, struct tables *tables) {
    const ElfW(Dyn) *dynamic = NULL;
    tables->start = UINTPTR_MAX;
    for (int i = 0; i < image->program_header_count; i++) {
        const ElfW(Phdr) *header = &image->program_headers[i];
        uintptr_t start = image->bias + header->p_vaddr, end = start + header->p_memsz;
        if (header->p_type == PT_DYNAMIC) {
            dynamic = (const ElfW(Dyn) *)start;
        } else if (header->p_type == PT_LOAD) {
            tables->start = start < tables->start ? start : tables->start;
            tables->end = end > tables->end ? end : tables->end;
        } else if (header->p_type == PT_GNU_RELRO) {
            /* As the loader rounds it. */
            tables->relro_start = start & ~(uintptr_t)(MT_PAGE_SIZE - 1);
            tables->relro_end = end & ~(uintptr_t)(MT_PAGE_SIZE - 1);
        }
    }
    return dynamic;
}

static bool read_tables(const struct mt_loaded_image *image, struct tables *tables) {
    memset(tables, 0, sizeof *tables);
    uint64_t kind = DT_RELA;
    for (const ElfW(Dyn) *entry = read_headers(image, tables); entry && entry->d_tag != DT_NULL;
         entry++) {
        uintptr_t value = entry->d_un.d_val;
        switch (entry->d_tag) {
        case DT_SYMTAB:
            tables->symbols = (const ElfW(Sym) *)value;
            break;
        case DT_STRTAB:
            tables->strings = (const char *)value;
            break;
        case DT_RELA:
            tables->relocations[0] = (const ElfW(Rela) *)value;
            break;
        case DT_RELASZ:
            tables->counts[0] = value / sizeof(ElfW(Rela));
            break;
        case DT_RELACOUNT:
            tables->relative_count = value;
            break;
        case DT_JMPREL:
            tables->relocations[1] = (const ElfW(Rela) *)value;
            break;
        case DT_PLTRELSZ:
            tables->counts[1] = value / sizeof(ElfW(Rela));
            break;
        case DT_PLTREL:
            kind = value;
            break;
        case DT_INIT_ARRAYSZ:
            tables->initialiser_count = value / sizeof(void *);
            break;
        default:
            break;
        }
    }
    /* The vDSO has no relocations, and its tables are not relocated either. */
    return tables->symbols && tables->strings && kind == DT_RELA &&
           (tables->relocations[0] || tables->relocations[1]);
}

/* ---- Functions ---- */

void mt_rebinding_look_up(struct mt_rebinding *functions, size_t count) {
    for (size_t i = 0; i < count; i++) {
        functions[i].ours = mt_loaded_find_own(functions[i].name);
        functions[i].next = mt_real_behind(functions[i].name);
        functions[i].entry = mt_real_entry(functions[i].name);
    }
    /* That a name is nowhere is no error of the host's. */
    dlerror();
}

/* returns  the one of a name; NULL when it is none of them */
static const struct mt_rebinding *find_name(const struct mt_rebinding *functions, size_t count,
                                            const char *name) {
    for (size_t i = 0; i < count; i++)
        if (mt_text_equal(functions[i].name, name))
            return functions[i].ours && functions[i].next ? &functions[i] : NULL;
    return NULL;
}

/* ---- Words ---- */

static bool write_word(const struct tables *tables, uintptr_t slot, uintptr_t value) {
    uintptr_t page = slot & ~(uintptr_t)(MT_PAGE_SIZE - 1);
    bool is_protected = page >= tables->relro_start && page < tables->relro_end;
    if (is_protected && mt_os_protect((void *)page, MT_PAGE_SIZE, PROT_READ | PROT_WRITE) < 0)
        return false;
    __atomic_store_n((uintptr_t *)slot, value, __ATOMIC_RELEASE);
    if (is_protected)
        mt_os_protect((void *)page, MT_PAGE_SIZE, PROT_READ);
    return true;
}

/* A word through which a function is called. */
struct word {
    const struct mt_rebinding *function;
    uintptr_t slot, target;
    bool is_call;  /* and nothing else */
    bool is_bound; /* it leads to the function, not yet to the loader, which looks it up */
};

static void redirect(const struct word *word, const struct tables *tables,
                     struct mt_rebound *found) {
    const struct mt_rebinding *function = word->function;
    if (word->target == function->ours || (word->target == function->entry && function->entry) ||
        (!word->is_bound && !word->target))
        return;
    if (word->target == function->next && write_word(tables, word->slot, function->ours)) {
        found->redirected++;
        found->were_bound |= word->is_bound;
    } else if (word->is_call) {
        found->bypassed = function->name;
    }
}

/* ---- All words of an image ---- */

struct walk {
    const struct mt_loaded_image *image;
    const struct mt_rebinding *functions;
    size_t count;
    struct tables tables;
};

static bool begin_walk(struct walk *walk, const struct mt_loaded_image *image,
                       const struct mt_rebinding *functions, size_t count) {
    walk->image = image;
    walk->functions = functions;
    walk->count = count;
    return read_tables(image, &walk->tables);
}

/* returns  whether a relocation is of a word of one of the functions */
static bool read_word(const struct walk *walk, const ElfW(Rela) * relocation, struct word *word) {
    const struct tables *tables = &walk->tables;
    uint32_t type = ELF64_R_TYPE(relocation->r_info);
    if (type != CALLED && type != LOADED && (type != STORED || relocation->r_addend != 0))
        return false;
    uint32_t symbol = ELF64_R_SYM(relocation->r_info);
    word->function =
        find_name(walk->functions, walk->count, tables->strings + tables->symbols[symbol].st_name);
    if (!word->function)
        return false;
    word->slot = walk->image->bias + relocation->r_offset;
    uintptr_t value = __atomic_load_n((const uintptr_t *)word->slot, __ATOMIC_ACQUIRE);
    word->is_call = type == CALLED;
    /* A call that was not made yet leads into the image itself, from where the loader looks the
     * function up. */
    word->is_bound = type != CALLED || value < tables->start || value >= tables->end;
    word->target = word->is_bound ? value : word->function->deep;
    return true;
}

/* returns  false once visit does */
static bool visit_words(struct walk *walk,
                        bool (*visit)(struct walk *, const struct word *, void *), void *context) {
    const struct tables *tables = &walk->tables;
    struct word word;
    for (int table = 0; table < 2; table++)
        for (size_t i = table == 0 ? tables->relative_count : 0; i < tables->counts[table]; i++)
            if (read_word(walk, &tables->relocations[table][i], &word) &&
                !visit(walk, &word, context))
                return false;
    return true;
}

static bool redirect_one(struct walk *walk, const struct word *word, void *found) {
    redirect(word, &walk->tables, found);
    return true;
}

bool mt_rebind_image(const struct mt_loaded_image *image, const struct mt_rebinding *functions,
                     size_t count, struct mt_rebound *found) {
    struct walk walk;
    memset(found, 0, sizeof *found);
    if (!begin_walk(&walk, image, functions, count))
        return false;
    visit_words(&walk, redirect_one, found);
    found->has_initialisers = walk.tables.initialiser_count > 1;
    return true;
}

static bool is_together(struct walk *walk, const struct word *word, void *context) {
    (void)walk;
    (void)context;
    return !word->is_bound || !word->target || word->target == word->function->next ||
           word->target == word->function->ours || word->target == word->function->entry;
}

bool mt_rebinding_is_apart(const struct mt_loaded_image *image,
                           const struct mt_rebinding *functions, size_t count) {
    struct walk walk;
    return begin_walk(&walk, image, functions, count) && !visit_words(&walk, is_together, NULL);
}

const char *mt_rebinding_find_used(const struct mt_loaded_image *image,
                                   bool (*is_wanted)(const char *name)) {
    struct tables tables;
    if (!read_tables(image, &tables))
        return NULL;
    for (int table = 0; table < 2; table++)
        for (size_t i = table == 0 ? tables.relative_count : 0; i < tables.counts[table]; i++) {
            uint32_t symbol = ELF64_R_SYM(tables.relocations[table][i].r_info);
            const char *name = tables.strings + tables.symbols[symbol].st_name;
            if (symbol != 0 && is_wanted(name))
                return name;
        }
    return NULL;
}

bool mt_rebinding_is_relocated(const struct mt_loaded_image *image) {
    struct tables tables;
    if (!read_tables(image, &tables) || !tables.relocations[0] || !tables.relative_count)
        return true;
    const ElfW(Rela) *first = tables.relocations[0];
    return ELF64_R_TYPE(first->r_info) != RELATIVE ||
           *(const uintptr_t *)(image->bias + first->r_offset) ==
               image->bias + (uintptr_t)first->r_addend;
}
