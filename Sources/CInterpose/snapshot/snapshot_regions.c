/* See snapshot_regions.h. */
#include "snapshot/snapshot_regions.h"

#include "base/own_memory.h"
#include "base/proc_maps.h"
#include "base/text.h"
#include <errno.h>

static struct mt_maps_reader g_reader;
static struct mt_own_range g_own[MT_OWN_RANGES + 1];
MT_IDLE_AT_START(g_own);

/* Memory that several processes share, or a process and the kernel, but no file on a disk: pointers
 * may be in there. */
static bool is_shared_memory(const char *path) {
    return !*path || mt_text_has_prefix(path, "/dev/zero") || mt_text_has_prefix(path, "/memfd:") ||
           mt_text_has_prefix(path, "/dev/shm/") || mt_text_has_prefix(path, "/SYSV") ||
           mt_text_has_prefix(path, "[anon") || mt_text_has_prefix(path, "anon_inode:[io_uring]");
}

/* Looked through for pages. What is larger is mostly reserved only, such as the 64 MiB of each of
 * malloc's arenas, and takes 5 us per MiB. */
#define MOST_PROTECTED (UINT64_C(32) << 20)

static bool can_be_put_aside(const struct mt_map_line *line) {
    return line->protection == 0 && !line->is_shared && line->path[0] != '/' &&
           line->end - line->start <= MOST_PROTECTED;
}

static uint32_t page_source(const struct mt_map_line *line) {
    bool is_device = mt_text_has_prefix(line->path, "/dev/") && !is_shared_memory(line->path);
    bool is_kernel = mt_text_has_prefix(line->path, "[v"); /* vdso, vvar, vsyscall */
    if (is_device || is_kernel)
        return MT_PAGES_NOT_KEPT;
    if (!(line->protection & MT_SNAPSHOT_READ))
        return can_be_put_aside(line) ? MT_PAGES_PROTECTED : MT_PAGES_NOT_KEPT;
    /* What is read-only may have been written before: hardened programs protect their data. */
    if (line->is_shared)
        return is_shared_memory(line->path) ? MT_PAGES_SHARED : MT_PAGES_NOT_KEPT;
    if (line->path[0] == '/')
        return line->protection & MT_SNAPSHOT_EXECUTE && !(line->protection & MT_SNAPSHOT_WRITE)
                   ? MT_PAGES_NOT_KEPT
                   : MT_PAGES_WRITTEN;
    return MT_PAGES_PRIVATE;
}

struct builder {
    struct mt_region_list *list;
    mt_region_visitor *visit;
};

static void add(struct builder *builder, const struct mt_map_line *line, uint64_t start,
                uint64_t end, bool is_own) {
    struct mt_region_list *list = builder->list;
    uint32_t source = is_own ? MT_PAGES_NOT_KEPT : page_source(line);
    if (list->count == MT_REGIONS_MAX) {
        list->skipped_bytes += end - start;
        return;
    }
    list->regions[list->count++] =
        (struct mt_region){start, end, source, !is_own && line->protection != 0};
    struct mt_snapshot_region region = {.start = start,
                                        .end = end,
                                        .file_offset = line->file_offset + (start - line->start),
                                        .protection = line->protection,
                                        .flags =
                                            (line->is_shared ? MT_SNAPSHOT_SHARED : 0u) |
                                            (source != MT_PAGES_NOT_KEPT ? MT_SNAPSHOT_KEPT : 0u) |
                                            (is_own ? MT_SNAPSHOT_OWN : 0u),
                                        .path_length = (uint32_t)line->path_length};
    builder->visit(&region, line->path);
}

/* Adds a mapping in the parts that the recorder's own ones leave of it. *own: the first own range
 * that may reach into it; advanced. */
static void add_parts(struct builder *builder, const struct mt_map_line *line,
                      const struct mt_own_range **own, const struct mt_own_range *own_end) {
    uint64_t start = line->start;
    while (start < line->end) {
        while (*own < own_end && (*own)->end <= start)
            ++*own;
        bool is_own = *own < own_end && (*own)->start <= start;
        uint64_t border = *own == own_end ? line->end : is_own ? (*own)->end : (*own)->start;
        uint64_t end = border < line->end ? border : line->end;
        add(builder, line, start, end, is_own);
        start = end;
    }
}

long mt_region_list_make(struct mt_region_list *list, mt_region_visitor *visit) {
    list->count = 0;
    list->skipped_bytes = 0;
    list->regions = mt_os_map_pages(MT_REGIONS_MAX * sizeof(struct mt_region));
    if (!list->regions)
        return -ENOMEM;
    long error = mt_maps_open(&g_reader);
    if (error < 0)
        return error;
    const struct mt_own_range *own = g_own, *own_end = g_own + mt_own_memory_list(g_own);
    struct builder builder = {list, visit};
    struct mt_map_line line;
    while (mt_maps_next(&g_reader, &line))
        add_parts(&builder, &line, &own, own_end);
    mt_maps_close(&g_reader);
    return list->count ? 0 : -EIO;
}

void mt_region_list_free(struct mt_region_list *list) {
    if (list->regions)
        mt_os_unmap_pages(list->regions, MT_REGIONS_MAX * sizeof(struct mt_region));
    list->regions = NULL;
}

/* ---- What a copy lacks ---- */

struct parent_mapping {
    uint64_t start, end, resident;
    bool would_be_kept;
};

static uint64_t own_bytes(const struct parent_mapping *mapping,
                          const struct mt_own_range *own_end) {
    uint64_t bytes = 0;
    for (const struct mt_own_range *own = g_own; own < own_end; own++) {
        uint64_t start = own->start > mapping->start ? own->start : mapping->start;
        uint64_t end = own->end < mapping->end ? own->end : mapping->end;
        bytes += start < end ? end - start : 0;
    }
    return bytes;
}

/* "Rss:        1024 kB" */
static uint64_t amount_in(const char *text) {
    uint64_t kilobytes = 0;
    for (; *text; text++)
        kilobytes =
            *text >= '0' && *text <= '9' ? kilobytes * 10 + (uint64_t)(*text - '0') : kilobytes;
    return kilobytes << 10;
}

static uint64_t not_copied(const struct parent_mapping *mapping, const char *flags,
                           const struct mt_own_range *own_end) {
    bool is_missing = mt_text_find(flags, " dc") || mt_text_find(flags, " wf");
    if (!is_missing || !mapping->would_be_kept)
        return 0;
    uint64_t theirs = mapping->end - mapping->start - own_bytes(mapping, own_end);
    return theirs < mapping->resident ? theirs : mapping->resident;
}

uint64_t mt_regions_not_copied(long pid) {
    if (mt_maps_open_details(&g_reader, pid) < 0)
        return 0;
    const struct mt_own_range *own_end = g_own + mt_own_memory_list(g_own);
    struct parent_mapping mapping = {0};
    uint64_t bytes = 0;
    size_t length;
    for (char *text; (text = mt_maps_next_text(&g_reader, &length));) {
        struct mt_map_line line;
        if (mt_map_line_read(text, length, &line))
            mapping = (struct parent_mapping){line.start, line.end, 0,
                                              page_source(&line) != MT_PAGES_NOT_KEPT};
        else if (mt_text_has_prefix(text, "Rss:") || mt_text_has_prefix(text, "Swap:"))
            mapping.resident += amount_in(text);
        else if (mt_text_has_prefix(text, "VmFlags:"))
            bytes += not_copied(&mapping, text, own_end);
    }
    mt_maps_close(&g_reader);
    return bytes;
}
