/* Keeps sections .debug_frame. See debug_frame.h. */
#include "unwind/debug_frame.h"

#include "base/lock.h"
#include "base/text.h"
#include "loader/image_map.h"
#include <string.h>

enum { MOST_IMAGES = 32, LARGEST_SECTION = 64 << 20 };

/* Where a function begins, from the image's bias, and where it is described in the section. */
struct entry {
    uint32_t start, description;
};

struct tables {
    uintptr_t start, end; /* of the image; 0: free */
    struct mt_debug_frame_copy section;
    struct entry *entries; /* by ascending start */
    size_t count;
};

static struct {
    struct mt_lock lock;
    uint32_t count; /* of the tables in use */
    struct tables tables[MOST_IMAGES];
} g_frames;

/* ---- Reading ---- */

/* An image of the distribution has no debug information in its file. */
static bool is_of_system(const char *path) {
    return (mt_text_has_prefix(path, "/usr/") && !mt_text_has_prefix(path, "/usr/local/")) ||
           mt_text_has_prefix(path, "/lib");
}

static void measure(const struct mt_loaded_image *image, struct tables *tables) {
    tables->start = UINTPTR_MAX;
    for (uint16_t i = 0; i < image->program_header_count; i++) {
        const ElfW(Phdr) *header = &image->program_headers[i];
        uintptr_t start = image->bias + header->p_vaddr, end = start + header->p_memsz;
        if (header->p_type != PT_LOAD)
            continue;
        if (start < tables->start)
            tables->start = start;
        if (end > tables->end)
            tables->end = end;
    }
}

/* Functions that a section describes; what was left out of the program is said to be at 0.
 *
 * entries  NULL: only counts */
static size_t list_entries(const struct mt_debug_frame_copy *section, struct entry *entries) {
    enum { HEADER = 8, BEHIND_START = 16 };
    size_t count = 0;
    for (size_t at = 0; section->size - at >= BEHIND_START;) {
        uint32_t length, kind;
        uint64_t start;
        memcpy(&length, section->start + at, sizeof length);
        memcpy(&kind, section->start + at + sizeof length, sizeof kind);
        memcpy(&start, section->start + at + HEADER, sizeof start);
        if (kind != UINT32_MAX && start != 0 && start <= UINT32_MAX) {
            if (entries)
                entries[count] = (struct entry){(uint32_t)start, (uint32_t)at};
            count++;
        }
        if (length >= 0xfffffff0u || length > section->size - at - sizeof length)
            break;
        at += sizeof length + length;
    }
    return count;
}

static void sink(struct entry *entries, size_t root, size_t count) {
    struct entry sinking = entries[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && entries[child].start < entries[child + 1].start)
            child++;
        if (entries[child].start <= sinking.start)
            break;
        entries[root] = entries[child];
    }
    entries[root] = sinking;
}

/* A heap sort: no recursion, no memory. */
static void sort(struct entry *entries, size_t count) {
    for (size_t i = count / 2; i-- > 0;)
        sink(entries, i, count);
    for (size_t last = count; last-- > 1;) {
        struct entry greatest = entries[0];
        entries[0] = entries[last];
        entries[last] = greatest;
        sink(entries, 0, last);
    }
}

static void give_back(struct tables *tables) {
    mt_elf_give_back(tables->section.start, tables->section.size);
    if (tables->entries)
        mt_os_unmap_pages(tables->entries, tables->count * sizeof *tables->entries);
    *tables = (struct tables){0};
}

static bool build_index(struct tables *tables) {
    tables->count = list_entries(&tables->section, NULL);
    if (tables->count == 0)
        return false;
    tables->entries = mt_os_map_pages(tables->count * sizeof *tables->entries);
    if (!tables->entries)
        return false;
    list_entries(&tables->section, tables->entries);
    sort(tables->entries, tables->count);
    return true;
}

/* Functions of Go keep frame pointers of which its tables say nothing. */
static bool read_tables(const struct mt_loaded_image *image, struct tables *tables) {
    struct mt_elf_file file;
    uint64_t size = 0;
    if (is_of_system(image->path) || !mt_elf_open(&file, image))
        return false;
    tables->section.start =
        mt_elf_has_section(&file, ".gopclntab")
            ? NULL
            : mt_elf_read_section(&file, ".debug_frame", LARGEST_SECTION, &size);
    mt_elf_close(&file);
    tables->section.size = size;
    tables->section.bias = image->bias;
    if (tables->section.start && build_index(tables))
        return true;
    give_back(tables);
    return false;
}

/* ---- Keeping ---- */

static void forget_those_within(const struct tables *image) {
    for (struct tables *kept = g_frames.tables; kept < g_frames.tables + MOST_IMAGES; kept++) {
        if (kept->count == 0 || kept->start >= image->end || image->start >= kept->end)
            continue;
        give_back(kept);
        __atomic_fetch_sub(&g_frames.count, 1, __ATOMIC_RELEASE);
    }
}

static bool keep(const struct tables *fresh) {
    for (struct tables *kept = g_frames.tables; kept < g_frames.tables + MOST_IMAGES; kept++) {
        if (kept->count != 0)
            continue;
        *kept = *fresh;
        __atomic_fetch_add(&g_frames.count, 1, __ATOMIC_RELEASE);
        return true;
    }
    return false;
}

bool mt_debug_frame_look(const struct mt_loaded_image *image) {
    struct tables place = {0}, fresh = {0};
    measure(image, &place);
    bool are_read = read_tables(image, &fresh);
    fresh.start = place.start;
    fresh.end = place.end;
    uint64_t signals = mt_lock_enter(&g_frames.lock);
    forget_those_within(&place);
    bool is_kept = are_read && keep(&fresh);
    mt_lock_exit(&g_frames.lock, signals);
    if (are_read && !is_kept)
        give_back(&fresh);
    return true;
}

/* ---- Asking ---- */

static const struct tables *tables_of(uintptr_t pc) {
    for (const struct tables *kept = g_frames.tables; kept < g_frames.tables + MOST_IMAGES; kept++)
        if (kept->count != 0 && pc >= kept->start && pc < kept->end)
            return kept;
    return NULL;
}

/* The last function that begins at or before pc. */
static const struct entry *entry_of(const struct tables *tables, uintptr_t pc) {
    uintptr_t wanted = pc - tables->section.bias;
    size_t low = 0, high = tables->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (tables->entries[middle].start <= wanted)
            low = middle;
        else
            high = middle;
    }
    return tables->entries[low].start <= wanted ? &tables->entries[low] : NULL;
}

enum mt_eh_frame_result mt_debug_frame_rule(uintptr_t pc, struct mt_rule *rule) {
    enum mt_eh_frame_result result = MT_EH_FRAME_MISSING;
    /* Else the tables would be those of an image that was there before, or none. */
    if (mt_image_map_may_be_new(pc))
        mt_image_map_refresh();
    if (__atomic_load_n(&g_frames.count, __ATOMIC_ACQUIRE) == 0)
        return result;
    uint64_t signals = mt_lock_enter(&g_frames.lock);
    const struct tables *tables = tables_of(pc);
    const struct entry *entry = tables ? entry_of(tables, pc) : NULL;
    if (entry)
        result = mt_eh_frame_rule_in(&tables->section, entry->description, pc, rule);
    mt_lock_exit(&g_frames.lock, signals);
    return result;
}

void mt_debug_frame_after_fork(void) {
    mt_lock_reset(&g_frames.lock);
}

bool mt_debug_frame_covers(uintptr_t pc) {
    struct mt_rule rule;
    return mt_debug_frame_rule(pc, &rule) == MT_EH_FRAME_FOUND;
}
