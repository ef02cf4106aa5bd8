/* Tracks loaded images. See image_map.h. */
#define _GNU_SOURCE
#include "loader/image_map.h"

#include "loader/known_images.h"
#include "loader/loader_gate.h"
#include "loader/real.h"
#include "memtrace_format.h"
#include "stacks/stack_table.h"
#include <elf.h>
#include <link.h>
#include <string.h>

static struct {
    uint32_t scan;           /* number of the last scan */
    uint32_t known_stacks;   /* those with lower IDs lie in images that were known then */
    uint64_t loads, unloads; /* the loader's counters at the last scan */
    uint32_t is_outdated;
    uint32_t is_overdue; /* a thread was forking when the loader was to be asked */
    struct mt_image_watcher watcher;
} g_map = {.known_stacks = MT_STACK_FIRST};

uint64_t mt_image_map_generation = 1;

void mt_image_map_watch(struct mt_image_watcher watcher) {
    g_map.watcher = watcher;
}

/* ---- Changes: with the lock of the known images ---- */

/* returns  false when it is to be shown again by the next scan */
static bool show(const struct mt_known_image *image) {
    struct mt_loaded_image loaded = mt_known_image_as_loaded(image);
    if (!g_map.watcher.loaded || g_map.watcher.loaded(&loaded))
        return true;
    __atomic_store_n(&g_map.is_outdated, 1, __ATOMIC_RELAXED);
    return false;
}

/* All of it before the generation: who sees that one renews what it has derived. */
static void forget_unloaded(void) {
    if (g_map.watcher.unloaded)
        g_map.watcher.unloaded();
    __atomic_fetch_add(&mt_image_map_generation, 1, __ATOMIC_RELEASE);
}

/* What comes to lie where something is gone has no node of before. */
static void begin_anew(void) {
    forget_unloaded();
    g_map.known_stacks = mt_stack_table_next_id();
}

static void drop_unloaded(void) {
    if (mt_known_images_drop_unloaded())
        begin_anew();
}

/* All but the name may be as before where a library of the same layout has come in the place of
 * another one. */
static struct mt_known_image *find_known(const struct mt_loaded_image *loaded) {
    struct mt_known_image *image = mt_known_images_find(loaded);
    if (!image || mt_known_image_is_named(image, loaded->path))
        return image;
    mt_known_images_drop(image);
    begin_anew();
    return NULL;
}

/* ---- Scans ---- */

struct scan {
    uint32_t stacks; /* the next ID when it began */
    bool has_entered;
    bool is_refused;
};

static void meet_known(struct mt_known_image *image, const struct mt_loaded_image *loaded) {
    image->seen_by = g_map.scan;
    image->tls_module = loaded->tls_module;
    mt_known_image_identify(image);
    if (!image->is_shown)
        image->is_shown = show(image);
}

static void meet(const struct mt_loaded_image *loaded) {
    struct mt_known_image *image = find_known(loaded);
    if (image) {
        meet_known(image, loaded);
        return;
    }
    image = mt_known_images_describe(loaded);
    if (!image || !show(image))
        return;
    image->is_shown = true;
    image->seen_by = g_map.scan;
    mt_known_images_publish(image, g_map.known_stacks);
}

/* With the loader's lock: the first image has the known ones locked, too. */
static bool enter(struct scan *scan) {
    if (!scan->has_entered && !scan->is_refused) {
        scan->has_entered = mt_known_images_enter();
        scan->is_refused = !scan->has_entered;
        if (scan->has_entered) {
            g_map.scan++;
            __atomic_store_n(&g_map.is_outdated, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&g_map.is_overdue, 0, __ATOMIC_RELAXED);
            scan->stacks = mt_stack_table_next_id();
            drop_unloaded();
        }
    }
    return scan->has_entered;
}

static int visit(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    if (!enter(context))
        return 1;
    __atomic_store_n(&g_map.loads, info->dlpi_adds, __ATOMIC_RELAXED);
    __atomic_store_n(&g_map.unloads, info->dlpi_subs, __ATOMIC_RELAXED);
    struct mt_loaded_image image = mt_loaded_image_of(info);
    meet(&image);
    return 0;
}

/* Those that the loader has left out. */
static void drop_missing(void) {
    bool any = false;
    for (uint32_t i = 0; i < mt_known_images_count(); i++) {
        struct mt_known_image *image = mt_known_images_slot(i);
        if (!image->number || image->seen_by == g_map.scan)
            continue;
        mt_known_images_drop(image);
        any = true;
    }
    if (any)
        forget_unloaded();
}

static void scan_in_gate(void) {
    struct scan scan = {0};
    dl_iterate_phdr(visit, &scan);
    if (!scan.has_entered)
        return;
    drop_missing();
    if (g_map.known_stacks < scan.stacks)
        g_map.known_stacks = scan.stacks;
    mt_known_images_exit();
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

bool mt_image_map_refresh(void) {
    bool is_changed = false;
    uint64_t signals = mt_os_block_signals();
    bool may_ask = mt_loader_gate_enter();
    if (may_ask) {
        dl_iterate_phdr(read_counters, &is_changed);
        if (is_changed || __atomic_load_n(&g_map.is_outdated, __ATOMIC_RELAXED))
            scan_in_gate();
        mt_loader_gate_leave();
    } else {
        __atomic_store_n(&g_map.is_outdated, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&g_map.is_overdue, 1, __ATOMIC_RELAXED);
    }
    mt_os_restore_signals(signals);
    return may_ask;
}

/* ---- Without the loader's lock ---- */

/* Where nothing can be asked, all that is known of code may be of what is gone. */
static void look_without_loader(bool is_all_doubtful) {
    if (!mt_known_images_enter())
        return;
    drop_unloaded();
    if (is_all_doubtful)
        forget_unloaded();
    mt_known_images_exit();
}

void mt_image_map_after_unload(void) {
    uint64_t signals = mt_os_block_signals();
    if (mt_found_image_can_be())
        look_without_loader(false);
    __atomic_store_n(&g_map.is_outdated, 1, __ATOMIC_RELAXED);
    if (!mt_image_map_refresh())
        look_without_loader(true);
    mt_os_restore_signals(signals);
}

/* An image whose file begins where its memory does, as those of all usual linkers. */
static bool read_headers(const struct mt_found_image *found, struct mt_loaded_image *loaded) {
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)found->start;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phoff > MT_PAGE_SIZE ||
        header->e_phnum > (MT_PAGE_SIZE - header->e_phoff) / sizeof(ElfW(Phdr)))
        return false;
    const struct link_map *object = (const struct link_map *)found->link_map;
    *loaded = (struct mt_loaded_image){.bias = object->l_addr,
                                       .program_headers =
                                           (const ElfW(Phdr) *)(found->start + header->e_phoff),
                                       .program_header_count = header->e_phnum,
                                       .path = object->l_name ? object->l_name : ""};
    return true;
}

static void add(const struct mt_loaded_image *loaded) {
    struct mt_known_image *image = mt_known_images_describe(loaded);
    if (!image)
        return;
    image->seen_by = g_map.scan;
    __atomic_store_n(&g_map.is_outdated, 1, __ATOMIC_RELAXED); /* the watcher has not seen it */
    mt_known_images_publish(image, g_map.known_stacks);
}

void mt_image_map_add_running(uintptr_t pc) {
    struct mt_found_image found;
    struct mt_loaded_image loaded;
    uint64_t signals = mt_os_block_signals();
    if (mt_found_image_at(pc, &found) && read_headers(&found, &loaded) && mt_known_images_enter()) {
        drop_unloaded();
        if (!find_known(&loaded))
            add(&loaded);
        mt_known_images_exit();
    }
    mt_os_restore_signals(signals);
}

/* ---- Asking, while others change ---- */

bool mt_image_map_contains(uintptr_t pc) {
    struct mt_known_image found;
    return mt_known_images_at(pc, &found);
}

bool mt_image_map_contains_code(uintptr_t pc) {
    struct mt_known_image found;
    return mt_known_images_at(pc, &found) && pc >= found.text_start && pc < found.text_end;
}

bool mt_image_map_find_image(const char *prefix, uintptr_t *start, uintptr_t *end) {
    struct mt_known_image found;
    if (!mt_known_images_named(prefix, &found))
        return false;
    *start = found.start;
    *end = found.end;
    return true;
}

bool mt_image_map_find_loaded(const char *prefix, struct mt_loaded_image *image) {
    struct mt_known_image found;
    if (!mt_known_images_named(prefix, &found))
        return false;
    *image = mt_known_image_as_loaded(&found);
    return true;
}

/* How many bytes there are from the header on, at most. Of a program with holes between its
 * segments, the loader finds the segment of pc only, which the header may lie outside of. */
static size_t room_of_header(const struct mt_found_image *found) {
    struct mt_found_image around;
    bool is_known = found->unwind_header && mt_found_image_at(found->unwind_header, &around);
    return is_known ? around.end - found->unwind_header : 0;
}

static bool find_section(uintptr_t pc, struct mt_unwind_section *section) {
    struct mt_found_image found;
    if (!mt_found_image_at(pc, &found))
        return false;
    section->header = found.unwind_header;
    section->image_start = found.start;
    section->image_end = found.end;
    section->header_size = room_of_header(&found);
    return true;
}

bool mt_image_map_unwind_section(uintptr_t pc, struct mt_unwind_section *section) {
    if (mt_found_image_can_be())
        return find_section(pc, section);
    mt_image_map_refresh();
    struct mt_known_image image;
    /* A refresh may be refused; and another thread that scans has yet to drop what is gone. */
    if (!mt_known_images_at(pc, &image) || !mt_known_image_is_there(&image, pc))
        return false;
    section->header = image.unwind_header;
    section->header_size = image.unwind_header_size;
    section->image_start = image.start;
    section->image_end = image.end;
    return true;
}

bool mt_image_map_is_overdue(void) {
    return __atomic_load_n(&g_map.is_overdue, __ATOMIC_RELAXED) != 0;
}

bool mt_image_map_may_be_new(uintptr_t pc) {
    struct mt_known_image known;
    struct mt_found_image found;
    if (!mt_found_image_can_be())
        return !mt_known_images_at(pc, &known);
    return mt_found_image_at(pc, &found) &&
           (!mt_known_images_at(pc, &known) ||
            (known.found.link_map != 0 && !mt_found_image_equal(&known.found, &found)));
}

/* The loader's lock may be held by a thread that is not here: nothing is overdue. */
void mt_image_map_survive_fork(void) {
    mt_known_images_survive_fork();
    g_map.is_overdue = 0;
}

void mt_image_map_write_all(void) {
    g_map.known_stacks = MT_STACK_FIRST;
    mt_known_images_write_all();
}
