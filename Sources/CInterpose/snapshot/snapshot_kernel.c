/* See snapshot_kernel.h. */
#include "snapshot/snapshot_kernel.h"

#include "base/proc_maps.h"
#include "base/proc_numbers.h"
#include "base/text.h"

static struct mt_maps_reader g_reader;

enum { MOST_WORDS = 1 << 20, PATH_SIZE = 64 };

struct search {
    struct mt_snapshot_writer *writer;
    struct mt_pointer_filter *filter;
    const char *folder;
    uint32_t words;
};

static void add(struct search *search, uint64_t word, uint32_t kind, uint64_t number) {
    bool is_kept = search->filter ? mt_word_can_point(search->filter, word) : word != 0;
    if (!is_kept || search->words >= MOST_WORDS)
        return;
    search->words++;
    struct mt_snapshot_kernel record = {.word = word, .kind = kind, .number = (uint32_t)number};
    mt_snapshot_record(search->writer, MT_SNAPSHOT_KERNEL, &record, sizeof record, "", 0);
}

/* A path in the folder of the process. */
static void make_path(const struct search *search, char path[PATH_SIZE], const char *name,
                      uint64_t number) {
    struct mt_text text = mt_text_begin(path, PATH_SIZE);
    mt_text_add(&text, search->folder);
    mt_text_add(&text, name);
    mt_text_add_number(&text, number);
}

/* ---- epoll ---- */

static bool is_epoll(const struct search *search, uint64_t descriptor) {
    static const char wanted[] = "anon_inode:[eventpoll]";
    char path[PATH_SIZE], target[sizeof wanted + 1];
    make_path(search, path, "fd/", descriptor);
    long length = mt_os_readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
    return mt_text_equal(target, wanted);
}

/* "tfd:  5 events:  19 data:  55d0c0a0  pos:0 ino:2a sdev:c" for each that is watched. */
static void read_descriptor(uint64_t descriptor, int directory, void *context) {
    struct search *search = context;
    char path[PATH_SIZE];
    size_t length;
    (void)directory;
    if (!is_epoll(search, descriptor))
        return;
    make_path(search, path, "fdinfo/", descriptor);
    const char *line = mt_maps_open_file(&g_reader, path) == 0 ? "" : NULL;
    while (line && (line = mt_maps_next_text(&g_reader, &length))) {
        static const char name[] = " data:";
        const char *at = mt_text_has_prefix(line, "tfd:") ? mt_text_find(line, name) : NULL;
        if (!at)
            continue;
        at += sizeof name - 1;
        while (*at == ' ')
            at++;
        add(search, mt_text_take_hex(&at), MT_SNAPSHOT_EPOLL, descriptor);
    }
    mt_maps_close(&g_reader);
}

/* ---- Timers ---- */

/* Of each timer "ID: 0", and "signal: 34/55d0c0a0", behind the slash what its signal brings. The
 * folders of threads lack this file. */
static void read_timers(struct search *search, long process) {
    char path[PATH_SIZE];
    struct mt_text text = mt_text_begin(path, sizeof path);
    mt_text_add(&text, process ? search->folder : "/proc/self/");
    mt_text_add(&text, "timers");
    uint64_t timer = 0;
    size_t length;
    const char *line = mt_maps_open_file(&g_reader, path) == 0 ? "" : NULL;
    while (line && (line = mt_maps_next_text(&g_reader, &length))) {
        const char *at = mt_text_has_prefix(line, "signal:") ? mt_text_find(line, "/") : NULL;
        if (mt_text_has_prefix(line, "ID: "))
            mt_text_parse_number(line + 4, &timer);
        if (!at)
            continue;
        at++;
        add(search, mt_text_take_hex(&at), MT_SNAPSHOT_TIMER, timer);
    }
    mt_maps_close(&g_reader);
}

void mt_snapshot_kernel(struct mt_snapshot_writer *writer, long process,
                        struct mt_pointer_filter *filter) {
    char folder[MT_PROC_FOLDER_SIZE], descriptors[PATH_SIZE];
    if (!mt_proc_folder(folder, process))
        return;
    struct search search = {.writer = writer, .filter = filter, .folder = folder};
    struct mt_text text = mt_text_begin(descriptors, sizeof descriptors);
    mt_text_add(&text, folder);
    mt_text_add(&text, "fd");
    mt_proc_numbers(descriptors, read_descriptor, &search);
    read_timers(&search, process);
}
