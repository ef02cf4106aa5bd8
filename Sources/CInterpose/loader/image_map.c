/* Tracks loaded images. See image_map.h. */
#define _GNU_SOURCE
#include "loader/image_map.h"

#include "base/clock.h"
#include "base/executable_path.h"
#include "base/lock.h"
#include "base/text.h"
#include "loader/loader_gate.h"
#include "loader/real.h"
#include "memtrace_format.h"
#include "stacks/stack_table.h"
#include "trace/meta_writer.h"
#include "trace/trace_file.h"
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>

enum { MAX_IMAGES = 4096, MAX_BUILD_ID = 64 };

struct image {
    uintptr_t bias, start, end, text_start, text_end;
    uintptr_t unwind_header;
    size_t unwind_header_size;
    uintptr_t program_headers; /* tells an image from a later one at the same addresses */
    uint16_t program_header_count;
    size_t tls_module;
    const char
        *path; /* in an arena that is never freed: here for the next image of that name, too */
    uint32_t build_id_length;
    uint32_t first_stack;
    uint32_t index;
    uint32_t seen_by; /* number of the last scan that met it */
    uint32_t number;  /* its index and 1; 0: the slot is free. Stored last, and cleared first */
    uint8_t build_id[MAX_BUILD_ID];
};

static struct {
    struct mt_lock scanning; /* held by the one thread that scans; only ever tried */
    struct image *images;
    uint32_t
        count; /* slots that have been used; published with release after the entry is complete */
    uint32_t images_met;
    uint32_t scan;
    uint32_t stacks_at_last_scan;
    uint64_t loads, unloads; /* the loader's counters at the last scan */
    uint32_t is_outdated;
    char *paths;
    size_t paths_left;
    struct mt_image_watcher watcher;
} g_map;

uint64_t mt_image_map_generation = 1;

void mt_image_map_watch(struct mt_image_watcher watcher) {
    g_map.watcher = watcher;
}

static const char *keep_path(const char *path) {
    size_t length = mt_text_length(path) + 1;
    if (length > g_map.paths_left) {
        size_t size = length > (64 << 10) ? length : (64 << 10);
        char *arena = mt_os_map_pages(size);
        if (!arena)
            return "";
        g_map.paths = arena;
        g_map.paths_left = size;
    }
    char *kept = memcpy(g_map.paths, path, length);
    g_map.paths += length;
    g_map.paths_left -= length;
    return kept;
}

/* The loader names the executable "" and libraries as they were asked for.
 * returns  `name`, or what the next call overwrites */
static const char *full_path(const char *name) {
    /* One thread scans at a time, perhaps with little stack. */
    static char directory[PATH_MAX], buffer[2 * PATH_MAX];
    if (name[0] == 0) {
        mt_executable_path(buffer, sizeof buffer);
        return buffer;
    }
    if (name[0] == '/' || !strchr(name, '/') || mt_os_getcwd(directory, sizeof directory - 1) <= 1)
        return name;
    struct mt_text text = mt_text_begin(buffer, sizeof buffer);
    mt_text_add(&text, directory);
    mt_text_add(&text, "/");
    mt_text_add(&text, name);
    return buffer;
}

static void read_build_id(struct image *image, const ElfW(Phdr) * header) {
    const uint8_t *at = (const uint8_t *)(image->bias + header->p_vaddr);
    const uint8_t *end = at + header->p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        const uint8_t *name = at + sizeof *note;
        const uint8_t *bytes = name + ((note->n_namesz + 3u) & ~3u);
        if (bytes > end || note->n_descsz > (size_t)(end - bytes))
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
            image->build_id_length = note->n_descsz < MAX_BUILD_ID ? note->n_descsz : MAX_BUILD_ID;
            memcpy(image->build_id, bytes, image->build_id_length);
            return;
        }
        at = bytes + ((note->n_descsz + 3u) & ~3u);
    }
}

static void add_segment(struct image *image, const ElfW(Phdr) * header) {
    uintptr_t start = image->bias + header->p_vaddr;
    uintptr_t end = start + header->p_memsz;
    if (start < image->start)
        image->start = start;
    if (end > image->end)
        image->end = end;
    if (header->p_flags & PF_X) {
        if (start < image->text_start)
            image->text_start = start;
        if (end > image->text_end)
            image->text_end = end;
    }
}

static void measure(struct image *image, const struct dl_phdr_info *info) {
    image->bias = info->dlpi_addr;
    image->tls_module = info->dlpi_tls_modid;
    image->start = image->text_start = UINTPTR_MAX;
    image->program_headers = (uintptr_t)info->dlpi_phdr;
    image->program_header_count = info->dlpi_phnum;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD)
            add_segment(image, header);
        else if (header->p_type == PT_NOTE && image->build_id_length == 0)
            read_build_id(image, header);
        else if (header->p_type == PT_GNU_EH_FRAME) {
            image->unwind_header = info->dlpi_addr + header->p_vaddr;
            image->unwind_header_size = header->p_memsz;
        }
    }
}

static void write_image(const struct image *image) {
    struct mt_image_record record = {.time = mt_clock_event_time(),
                                     .load_bias = image->bias,
                                     .start = image->start,
                                     .end = image->end,
                                     .text_start = image->text_start,
                                     .text_end = image->text_end,
                                     .image = image->index,
                                     .first_stack = image->first_stack,
                                     .build_id_length = image->build_id_length,
                                     .path_length = (uint32_t)mt_text_length(image->path)};
    struct mt_piece pieces[] = {{&record, sizeof record},
                                {image->build_id, image->build_id_length},
                                {image->path, record.path_length}};
    mt_meta_write(MT_RECORD_IMAGE, pieces, 3);
}

static void write_unload(const struct image *image) {
    struct mt_unload_record record = {.time = mt_clock_event_time(),
                                      .image = image->index,
                                      .first_stack = mt_stack_table_next_id()};
    struct mt_piece pieces[] = {{&record, sizeof record}};
    mt_meta_write(MT_RECORD_UNLOAD, pieces, 1);
}

static struct image *find_known(const struct dl_phdr_info *info) {
    for (uint32_t i = 0; i < g_map.count; i++) {
        struct image *image = &g_map.images[i];
        if (image->number && image->bias == info->dlpi_addr &&
            image->program_headers == (uintptr_t)info->dlpi_phdr)
            return image;
    }
    return NULL;
}

static struct mt_loaded_image as_loaded(const struct image *image) {
    return (struct mt_loaded_image){image->bias, (const ElfW(Phdr) *)image->program_headers,
                                    image->program_header_count, image->path, image->tls_module};
}

/* Where a new image goes. A program that loads and unloads for weeks needs no more slots, nor
 * paths, than it has images at a time, or of different names.
 *
 * returns  a free slot, best one whose last image had that path; NULL when there is none */
static struct image *free_slot(const char *path) {
    struct image *any = NULL;
    for (uint32_t i = 0; i < g_map.count; i++) {
        struct image *image = &g_map.images[i];
        if (image->number)
            continue;
        if (!strcmp(image->path, path))
            return image;
        any = image;
    }
    return g_map.count < MAX_IMAGES ? &g_map.images[g_map.count] : any;
}

/* Who copies the slot meanwhile must see that it is free, if anything that comes now. */
static void clear(struct image *slot, const char *path) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    const char *kept = slot->path && !strcmp(slot->path, path) ? slot->path : keep_path(path);
    memset(slot, 0, sizeof *slot);
    slot->path = kept;
}

static void publish(struct image *image) {
    image->index = g_map.images_met++;
    image->first_stack = g_map.stacks_at_last_scan;
    image->seen_by = g_map.scan;
    __atomic_store_n(&image->number, image->index + 1, __ATOMIC_RELEASE);
    if (image == &g_map.images[g_map.count])
        __atomic_store_n(&g_map.count, g_map.count + 1, __ATOMIC_RELEASE);
}

static int visit(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    (void)context;
    struct image *known = find_known(info);
    g_map.loads = info->dlpi_adds;
    g_map.unloads = info->dlpi_subs;
    if (known) {
        known->seen_by = g_map.scan;
        return 0;
    }
    const char *path = full_path(info->dlpi_name ? info->dlpi_name : "");
    struct image *image = free_slot(path);
    if (!image) {
        mt_trace_file_count(MT_COUNT_IMAGES_LOST, 1);
        return 0;
    }
    clear(image, path);
    measure(image, info);
    if (image->start == UINTPTR_MAX)
        return 0;
    if (image->text_start == UINTPTR_MAX)
        image->text_start = image->text_end = image->start;
    struct mt_loaded_image loaded = as_loaded(image);
    if (g_map.watcher.loaded && !g_map.watcher.loaded(&loaded)) {
        g_map.is_outdated = 1; /* met again by the next scan */
        return 0;
    }
    publish(image);
    write_image(image);
    return 0;
}

/* Unloads first: what is new may lie where something is gone. */
static void drop_missing(void) {
    bool any = false;
    for (uint32_t i = 0; i < g_map.count; i++) {
        struct image *image = &g_map.images[i];
        if (!image->number || image->seen_by == g_map.scan)
            continue;
        __atomic_store_n(&image->number, 0, __ATOMIC_RELEASE);
        write_unload(image);
        any = true;
    }
    if (any) {
        /* All of it before the generation: who sees that one renews what it has derived. */
        if (g_map.watcher.unloaded)
            g_map.watcher.unloaded();
        __atomic_fetch_add(&mt_image_map_generation, 1, __ATOMIC_RELEASE);
    }
}

static void scan_in_gate(void) {
    if (!mt_lock_try(&g_map.scanning))
        return;
    if (!g_map.images) {
        g_map.images = mt_os_map_pages(MAX_IMAGES * sizeof(struct image));
        g_map.stacks_at_last_scan = MT_STACK_FIRST;
    }
    if (g_map.images) {
        g_map.scan++;
        __atomic_store_n(&g_map.is_outdated, 0, __ATOMIC_RELAXED);
        uint32_t stacks = mt_stack_table_next_id();
        dl_iterate_phdr(visit, NULL);
        drop_missing();
        g_map.stacks_at_last_scan = stacks;
    }
    mt_lock_release(&g_map.scanning);
}

/* Whoever jumped away from within would leave the loader's lock and ours taken. */
void mt_image_map_scan(void) {
    uint64_t signals = mt_os_block_signals();
    if (mt_loader_gate_enter()) {
        scan_in_gate();
        mt_loader_gate_leave();
    }
    mt_os_restore_signals(signals);
}

static int read_counters(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    bool *is_changed = context;
    *is_changed = info->dlpi_adds != __atomic_load_n(&g_map.loads, __ATOMIC_RELAXED) ||
                  info->dlpi_subs != __atomic_load_n(&g_map.unloads, __ATOMIC_RELAXED);
    return 1; /* the first image tells */
}

void mt_image_map_refresh(void) {
    bool is_changed = false;
    uint64_t signals = mt_os_block_signals();
    if (mt_loader_gate_enter()) {
        dl_iterate_phdr(read_counters, &is_changed);
        if (is_changed || __atomic_load_n(&g_map.is_outdated, __ATOMIC_RELAXED))
            scan_in_gate();
        mt_loader_gate_leave();
    }
    mt_os_restore_signals(signals);
}

void mt_image_map_invalidate(void) {
    __atomic_store_n(&g_map.is_outdated, 1, __ATOMIC_RELAXED);
}

/* ---- Asking, while others scan ---- */

/* A copy of what a slot has had all the time while it was copied. */
static bool read_slot(uint32_t slot, struct image *copy) {
    const struct image *image = &g_map.images[slot];
    uint32_t number = __atomic_load_n(&image->number, __ATOMIC_ACQUIRE);
    *copy = *image;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return number && __atomic_load_n(&image->number, __ATOMIC_RELAXED) == number;
}

static bool lies_in(uintptr_t pc, const struct image *image) {
    return pc - image->start < image->end - image->start;
}

static bool find_at(uintptr_t pc, struct image *found) {
    uint32_t count = __atomic_load_n(&g_map.count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (lies_in(pc, &g_map.images[i]) && read_slot(i, found) && lies_in(pc, found))
            return true;
    return false;
}

bool mt_image_map_contains(uintptr_t pc) {
    struct image found;
    return find_at(pc, &found);
}

bool mt_image_map_contains_code(uintptr_t pc) {
    struct image found;
    return find_at(pc, &found) && pc >= found.text_start && pc < found.text_end;
}

static bool find_named(const char *prefix, struct image *found) {
    uint32_t count = __atomic_load_n(&g_map.count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (read_slot(i, found) && mt_text_has_prefix(mt_text_last_component(found->path), prefix))
            return true;
    return false;
}

bool mt_image_map_find_image(const char *prefix, uintptr_t *start, uintptr_t *end) {
    struct image found;
    if (!find_named(prefix, &found))
        return false;
    *start = found.start;
    *end = found.end;
    return true;
}

bool mt_image_map_find_loaded(const char *prefix, struct mt_loaded_image *image) {
    struct image found;
    if (!find_named(prefix, &found))
        return false;
    *image = as_loaded(&found);
    return true;
}

bool mt_image_map_unwind_section(uintptr_t pc, struct mt_unwind_section *section) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    struct dl_find_object found;
    if (mt_real.dl_find_object) {
        if (mt_real.dl_find_object((void *)pc, &found) != 0)
            return false;
        section->header = (uintptr_t)found.dlfo_eh_frame;
        section->image_start = (uintptr_t)found.dlfo_map_start;
        section->image_end = (uintptr_t)found.dlfo_map_end;
        section->header_size = section->header ? section->image_end - section->header : 0;
        return true;
    }
#endif
    mt_image_map_refresh();
    struct image image;
    if (!find_at(pc, &image))
        return false;
    section->header = image.unwind_header;
    section->header_size = image.unwind_header_size;
    section->image_start = image.start;
    section->image_end = image.end;
    return true;
}

bool mt_image_map_may_be_new(uintptr_t pc) {
    if (mt_image_map_contains(pc))
        return false;
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    struct dl_find_object found;
    if (mt_real.dl_find_object)
        return mt_real.dl_find_object((void *)pc, &found) == 0;
#endif
    return true;
}

void mt_image_map_reset_for_fork(void) {
    mt_lock_reset(&g_map.scanning);
    g_map.stacks_at_last_scan = MT_STACK_FIRST;
    for (uint32_t i = 0; i < g_map.count; i++) {
        struct image *image = &g_map.images[i];
        if (!image->number)
            continue;
        image->first_stack = MT_STACK_FIRST;
        write_image(image);
    }
}
