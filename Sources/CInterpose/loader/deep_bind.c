/* See deep_bind.h. */
#define _GNU_SOURCE
#include "loader/deep_bind.h"

#include "base/os.h"
#include "base/text.h"
#include "base/tls.h"
#include "loader/image_map.h"
#include "loader/loader_gate.h"
#include "loader/real.h"
#include "trace/meta_writer.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
enum { CALLED = R_X86_64_JUMP_SLOT, LOADED = R_X86_64_GLOB_DAT, STORED = R_X86_64_64 };
#else
enum { CALLED = R_AARCH64_JUMP_SLOT, LOADED = R_AARCH64_GLOB_DAT, STORED = R_AARCH64_ABS64 };
#endif

static const char *const names[] = {"malloc",
                                    "calloc",
                                    "realloc",
                                    "reallocarray",
                                    "free",
                                    "cfree",
                                    "posix_memalign",
                                    "aligned_alloc",
                                    "memalign",
                                    "valloc",
                                    "pvalloc",
                                    "malloc_usable_size",
                                    "free_sized",
                                    "free_aligned_sized",
                                    "_Znwm",
                                    "_ZnwmRKSt9nothrow_t",
                                    "_ZnwmSt11align_val_t",
                                    "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                    "_Znam",
                                    "_ZnamRKSt9nothrow_t",
                                    "_ZnamSt11align_val_t",
                                    "_ZnamSt11align_val_tRKSt9nothrow_t",
                                    "_ZdlPv",
                                    "_ZdlPvRKSt9nothrow_t",
                                    "_ZdlPvm",
                                    "_ZdlPvSt11align_val_t",
                                    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                                    "_ZdlPvmSt11align_val_t",
                                    "_ZdaPv",
                                    "_ZdaPvRKSt9nothrow_t",
                                    "_ZdaPvm",
                                    "_ZdaPvSt11align_val_t",
                                    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
                                    "_ZdaPvmSt11align_val_t"};

enum { NAMES = sizeof names / sizeof *names, MOST_IMAGES = 4096 };

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

static int has_search_path(struct dl_phdr_info *info, size_t size, void *context) {
    const ElfW(Dyn) *entry = NULL;
    (void)size;
    (void)context;
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

static const ElfW(Dyn) * read_headers(const struct dl_phdr_info *info, struct tables *tables) {
    const ElfW(Dyn) *dynamic = NULL;
    tables->start = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
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

static bool read_tables(const struct dl_phdr_info *info, struct tables *tables) {
    memset(tables, 0, sizeof *tables);
    uint64_t kind = DT_RELA;
    for (const ElfW(Dyn) *entry = read_headers(info, tables); entry && entry->d_tag != DT_NULL;
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

/* Of a name: where calls are to lead, where they may come from, and what the library finds. */
struct function {
    uintptr_t ours, next, deep;
};

struct binder {
    const struct mt_deep_bind *before;
    struct function functions[NAMES];
};

static uintptr_t behind_ours(const char *name) {
    uintptr_t next = (uintptr_t)dlsym(RTLD_NEXT, name);
    /* libstdc++ may have come with a plugin, into a scope that is not ours. */
    if (!next && mt_text_has_prefix(name, "_Z"))
        next = mt_image_map_find_function("libstdc++", name);
    if (!next && mt_text_has_prefix(name, "_Z"))
        next = mt_image_map_find_function("libc++", name);
    return next;
}

/* Before the images are looked at: dlsym takes a lock of the loader that comes first. */
static void look_up_functions(struct binder *binder, void *handle) {
    Dl_info image;
    void *own = dladdr(&mt_real, &image) ? dlopen(image.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    for (size_t i = 0; own && i < NAMES; i++)
        binder->functions[i] =
            (struct function){(uintptr_t)dlsym(own, names[i]), behind_ours(names[i]),
                              (uintptr_t)dlsym(handle, names[i])};
    if (own)
        dlclose(own);
    /* That a name is nowhere is no error of the host's. */
    dlerror();
}

/* returns  the position of a name; NAMES when it is none of an allocator function */
static size_t find_name(const char *name) {
    size_t i = 0;
    while (i < NAMES && !mt_text_equal(names[i], name))
        i++;
    return i;
}

/* ---- Words ---- */

/* What was found in an image. */
struct finding {
    uint32_t redirected;
    bool were_bound;      /* words led to functions when the library's initialisers ran */
    const char *bypassed; /* a function whose calls go past us still */
};

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

static void look_at_word(const struct function *function, const char *name, uint32_t type,
                         uintptr_t slot, const struct tables *tables, struct finding *finding) {
    uintptr_t value = __atomic_load_n((const uintptr_t *)slot, __ATOMIC_ACQUIRE);
    /* A call that was not made yet leads into the image itself, from where the loader looks the
     * function up: in the library and what it needs, then in the global scope, which has ours. */
    bool is_bound = type != CALLED || value < tables->start || value >= tables->end;
    uintptr_t target = is_bound ? value : function->deep;
    if (target == function->ours || (!is_bound && !target))
        return;
    if (target == function->next && write_word(tables, slot, function->ours)) {
        finding->redirected++;
        finding->were_bound |= is_bound;
    } else if (type == CALLED) {
        finding->bypassed = name;
    }
}

static void look_at(const struct binder *binder, const struct dl_phdr_info *info,
                    const struct tables *tables, const ElfW(Rela) * relocation,
                    struct finding *finding) {
    uint32_t type = ELF64_R_TYPE(relocation->r_info);
    if (type != CALLED && type != LOADED && (type != STORED || relocation->r_addend != 0))
        return;
    uint32_t symbol = ELF64_R_SYM(relocation->r_info);
    size_t name = find_name(tables->strings + tables->symbols[symbol].st_name);
    if (name < NAMES && binder->functions[name].ours && binder->functions[name].next)
        look_at_word(&binder->functions[name], names[name], type,
                     info->dlpi_addr + relocation->r_offset, tables, finding);
}

static void note(enum mt_note_kind kind, uint64_t value, const char *subject, const char *path) {
    char text[1024]; /* the host's stack may be small */
    struct mt_text message = mt_text_begin(text, sizeof text);
    mt_text_add(&message, subject);
    mt_text_add(&message, *subject ? ": " : "");
    mt_text_add(&message, path);
    mt_meta_note(kind, value, text);
}

static int bind_image(struct dl_phdr_info *info, size_t size, void *context) {
    const struct binder *binder = context;
    struct tables tables;
    struct finding finding = {0};
    (void)size;
    if (was_there(binder->before, info) || !read_tables(info, &tables))
        return 0;
    for (int table = 0; table < 2; table++)
        for (size_t i = table == 0 ? tables.relative_count : 0; i < tables.counts[table]; i++)
            look_at(binder, info, &tables, &tables.relocations[table][i], &finding);
    if (finding.bypassed)
        note(MT_NOTE_BYPASSED, 0, finding.bypassed, info->dlpi_name);
    /* One initialiser is the compiler's own, and calls no allocator. */
    if (finding.redirected > 0)
        note(MT_NOTE_REBOUND, finding.were_bound && tables.initialiser_count > 1, "",
             info->dlpi_name);
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
    note(MT_NOTE_BYPASSED, 0, "allocator functions", file);
}
