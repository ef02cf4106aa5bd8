/* Keeps the known images. See known_images.h. */
#define _GNU_SOURCE
#include "loader/known_images.h"

#include "base/clock.h"
#include "base/executable_path.h"
#include "base/lock.h"
#include "base/text.h"
#include "base/tls.h"
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

enum { MAX_IMAGES = 4096 };

static struct {
    struct mt_lock lock;
    const struct mt_tls *holder; /* whose thread is in a section */
    struct mt_known_image *images;
    uint32_t
        count; /* slots that have been used; published with release after the entry is complete */
    uint32_t images_met;
    uint32_t next_sought; /* the slot behind the one that was found last */
    char *paths;
    size_t paths_left;
} g_known;

/* ---- What the loader finds without a lock ---- */

#ifdef DLFO_STRUCT_HAS_EH_DBASE
bool mt_found_image_can_be(void) {
    return mt_real.dl_find_object != NULL;
}

bool mt_found_image_at(uintptr_t pc, struct mt_found_image *image) {
    struct dl_find_object found;
    if (!mt_real.dl_find_object || mt_real.dl_find_object((void *)pc, &found) != 0)
        return false;
    *image = (struct mt_found_image){.link_map = (uintptr_t)found.dlfo_link_map,
                                     .start = (uintptr_t)found.dlfo_map_start,
                                     .end = (uintptr_t)found.dlfo_map_end,
                                     .unwind_header = (uintptr_t)found.dlfo_eh_frame};
    return true;
}
#else
bool mt_found_image_can_be(void) {
    return false;
}

bool mt_found_image_at(uintptr_t pc, struct mt_found_image *image) {
    (void)pc, (void)image;
    return false;
}
#endif

/* ---- Sections ---- */

bool mt_known_images_enter(void) {
    if (__atomic_load_n(&g_known.holder, __ATOMIC_RELAXED) == &mt_tls)
        return false;
    mt_lock_acquire(&g_known.lock);
    if (!g_known.images)
        g_known.images = mt_os_map_pages(MAX_IMAGES * sizeof *g_known.images);
    if (!g_known.images) {
        mt_lock_release(&g_known.lock);
        return false;
    }
    __atomic_store_n(&g_known.holder, &mt_tls, __ATOMIC_RELAXED);
    return true;
}

void mt_known_images_exit(void) {
    __atomic_store_n(&g_known.holder, NULL, __ATOMIC_RELAXED);
    mt_lock_release(&g_known.lock);
}

/* ---- Descriptions ---- */

/* A fork may copy this at any point: what is left never counts too much. */
static char *take_from_arena(size_t length) {
    char *taken = g_known.paths;
    __atomic_store_n(&g_known.paths_left, g_known.paths_left - length, __ATOMIC_RELEASE);
    __atomic_store_n(&g_known.paths, taken + length, __ATOMIC_RELEASE);
    return taken;
}

static const char *keep_path(const char *path) {
    size_t length = mt_text_length(path) + 1;
    if (length > g_known.paths_left) {
        size_t size = length > (64 << 10) ? length : (64 << 10);
        char *arena = mt_os_map_pages(size);
        if (!arena)
            return "";
        __atomic_store_n(&g_known.paths, arena, __ATOMIC_RELEASE);
        __atomic_store_n(&g_known.paths_left, size, __ATOMIC_RELEASE);
    }
    return memcpy(take_from_arena(length), path, length);
}

/* The loader names the executable "" and libraries as they were asked for.
 * returns  `name`, or what the next call overwrites */
static const char *full_path(const char *name) {
    /* One thread is in a section, perhaps with little stack. */
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

static void read_build_id(struct mt_known_image *image, const ElfW(Phdr) * header) {
    const uint8_t *at = (const uint8_t *)(image->bias + header->p_vaddr);
    const uint8_t *end = at + header->p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        const uint8_t *name = at + sizeof *note;
        const uint8_t *bytes = name + ((note->n_namesz + 3u) & ~3u);
        if (bytes > end || note->n_descsz > (size_t)(end - bytes))
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
            image->build_id_length =
                note->n_descsz < MT_MOST_BUILD_ID ? note->n_descsz : MT_MOST_BUILD_ID;
            memcpy(image->build_id, bytes, image->build_id_length);
            return;
        }
        at = bytes + ((note->n_descsz + 3u) & ~3u);
    }
}

static void add_segment(struct mt_known_image *image, const ElfW(Phdr) * header) {
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

static void measure(struct mt_known_image *image, const struct mt_loaded_image *loaded) {
    image->bias = loaded->bias;
    image->tls_module = loaded->tls_module;
    image->start = image->text_start = UINTPTR_MAX;
    image->program_headers = (uintptr_t)loaded->program_headers;
    image->program_header_count = loaded->program_header_count;
    for (int i = 0; i < loaded->program_header_count; i++) {
        const ElfW(Phdr) *header = &loaded->program_headers[i];
        if (header->p_type == PT_LOAD)
            add_segment(image, header);
        else if (header->p_type == PT_NOTE && image->build_id_length == 0)
            read_build_id(image, header);
        else if (header->p_type == PT_GNU_EH_FRAME) {
            image->unwind_header = loaded->bias + header->p_vaddr;
            image->unwind_header_size = header->p_memsz;
        }
    }
    if (image->text_start == UINTPTR_MAX)
        image->text_start = image->text_end = image->start;
}

static void write_image(const struct mt_known_image *image) {
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

static void write_unload(const struct mt_known_image *image) {
    struct mt_unload_record record = {.time = mt_clock_event_time(),
                                      .image = image->index,
                                      .first_stack = mt_stack_table_next_id()};
    struct mt_piece pieces[] = {{&record, sizeof record}};
    mt_meta_write(MT_RECORD_UNLOAD, pieces, 1);
}

/* ---- Changes ---- */

static bool is_at_place_of(const struct mt_known_image *image,
                           const struct mt_loaded_image *loaded) {
    return image->number && image->bias == loaded->bias &&
           image->program_headers == (uintptr_t)loaded->program_headers;
}

/* A scan meets images in the loader's order, which is mostly that of the slots. From the first slot
 * each time, a program that opens libraries one by one would pay for the cube of their number. */
struct mt_known_image *mt_known_images_find(const struct mt_loaded_image *loaded) {
    uint32_t count = g_known.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = (g_known.next_sought + i) % count;
        if (is_at_place_of(&g_known.images[slot], loaded)) {
            g_known.next_sought = slot + 1;
            return &g_known.images[slot];
        }
    }
    return NULL;
}

bool mt_known_image_is_named(const struct mt_known_image *image, const char *name) {
    return name[0] == 0 ||
           mt_text_equal(mt_text_last_component(image->path), mt_text_last_component(name));
}

/* Where a new image goes. A program that loads and unloads for weeks needs no more slots, nor
 * paths, than it has images at a time, or of different names.
 *
 * returns  a free slot, best one whose last image had that path; NULL when there is none */
static struct mt_known_image *free_slot(const char *path) {
    struct mt_known_image *any = NULL;
    for (uint32_t i = 0; i < g_known.count; i++) {
        struct mt_known_image *image = &g_known.images[i];
        if (image->number)
            continue;
        if (!strcmp(image->path, path))
            return image;
        any = image;
    }
    return g_known.count < MAX_IMAGES ? &g_known.images[g_known.count] : any;
}

/* Who copies the slot meanwhile must see that it is free, if anything that comes now. */
static void clear(struct mt_known_image *slot, const char *path) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    const char *kept = slot->path && !strcmp(slot->path, path) ? slot->path : keep_path(path);
    memset(slot, 0, sizeof *slot);
    slot->path = kept;
}

struct mt_known_image *mt_known_images_describe(const struct mt_loaded_image *loaded) {
    const char *path = full_path(loaded->path);
    struct mt_known_image *image = free_slot(path);
    if (!image) {
        mt_trace_file_count(MT_COUNT_IMAGES_LOST, 1);
        return NULL;
    }
    clear(image, path);
    measure(image, loaded);
    return image->start == UINTPTR_MAX ? NULL : image;
}

void mt_known_image_identify(struct mt_known_image *image) {
    struct mt_found_image found;
    if (!image->found.link_map && mt_found_image_at(image->text_start, &found))
        image->found = found;
}

void mt_known_images_publish(struct mt_known_image *image, uint32_t first_stack) {
    image->index = g_known.images_met++;
    image->first_stack = first_stack;
    mt_known_image_identify(image);
    __atomic_store_n(&image->number, image->index + 1, __ATOMIC_RELEASE);
    if (image == &g_known.images[g_known.count])
        __atomic_store_n(&g_known.count, g_known.count + 1, __ATOMIC_RELEASE);
    write_image(image);
}

void mt_known_images_drop(struct mt_known_image *image) {
    __atomic_store_n(&image->number, 0, __ATOMIC_RELEASE);
    write_unload(image);
}

static bool is_unloaded(const struct mt_known_image *image) {
    struct mt_found_image found;
    return image->number && image->found.link_map &&
           !(mt_found_image_at(image->text_start, &found) &&
             mt_found_image_equal(&found, &image->found));
}

bool mt_known_images_drop_unloaded(void) {
    bool any = false;
    for (uint32_t i = 0; i < g_known.count; i++)
        if (is_unloaded(&g_known.images[i])) {
            mt_known_images_drop(&g_known.images[i]);
            any = true;
        }
    return any;
}

/* ---- Looks ---- */

uint32_t mt_known_images_count(void) {
    return __atomic_load_n(&g_known.count, __ATOMIC_ACQUIRE);
}

struct mt_known_image *mt_known_images_slot(uint32_t slot) {
    return &g_known.images[slot];
}

bool mt_known_images_read(uint32_t slot, struct mt_known_image *copy) {
    const struct mt_known_image *image = &g_known.images[slot];
    uint32_t number = __atomic_load_n(&image->number, __ATOMIC_ACQUIRE);
    *copy = *image;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return number && __atomic_load_n(&image->number, __ATOMIC_RELAXED) == number;
}

static bool lies_in(uintptr_t pc, const struct mt_known_image *image) {
    return pc - image->start < image->end - image->start;
}

bool mt_known_images_at(uintptr_t pc, struct mt_known_image *found) {
    uint32_t count = mt_known_images_count();
    for (uint32_t i = 0; i < count; i++)
        if (lies_in(pc, &g_known.images[i]) && mt_known_images_read(i, found) && lies_in(pc, found))
            return true;
    return false;
}

bool mt_known_images_named(const char *prefix, struct mt_known_image *found) {
    uint32_t count = mt_known_images_count();
    for (uint32_t i = 0; i < count; i++)
        if (mt_known_images_read(i, found) &&
            mt_text_has_prefix(mt_text_last_component(found->path), prefix))
            return true;
    return false;
}

static bool is_readable(uintptr_t start, size_t size) {
    uintptr_t page = start & ~(uintptr_t)(MT_PAGE_SIZE - 1);
    for (; page < start + size; page += MT_PAGE_SIZE)
        if (!mt_os_is_readable(page))
            return false;
    return true;
}

bool mt_known_image_is_there(const struct mt_known_image *image, uintptr_t pc) {
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)image->program_headers;
    bool has_code = false, has_tables = image->unwind_header == 0;
    if (!is_readable(image->program_headers, image->program_header_count * sizeof *headers))
        return false;
    for (uint16_t i = 0; i < image->program_header_count; i++) {
        uintptr_t start = image->bias + headers[i].p_vaddr;
        if (headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_X))
            has_code = has_code || pc - start < headers[i].p_memsz;
        else if (headers[i].p_type == PT_GNU_EH_FRAME)
            has_tables =
                start == image->unwind_header && headers[i].p_memsz == image->unwind_header_size;
    }
    return has_code && has_tables;
}

struct mt_loaded_image mt_known_image_as_loaded(const struct mt_known_image *image) {
    return (struct mt_loaded_image){image->bias, (const ElfW(Phdr) *)image->program_headers,
                                    image->program_header_count, image->path, image->tls_module};
}

void mt_known_images_survive_fork(void) {
    mt_lock_reset(&g_known.lock);
    g_known.holder = NULL;
}

void mt_known_images_write_all(void) {
    for (uint32_t i = 0; i < g_known.count; i++) {
        struct mt_known_image *image = &g_known.images[i];
        if (!image->number)
            continue;
        image->first_stack = MT_STACK_FIRST;
        write_image(image);
    }
}
