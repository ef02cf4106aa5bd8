/* Appends META records. See meta_writer.h. */
#include "trace/meta_writer.h"

#include "base/clock.h"
#include "base/executable_path.h"
#include "base/lock.h"
#include "base/text.h"
#include "memtrace_checksum.h"
#include "trace/trace_file.h"
#include <errno.h>
#include <string.h>

enum { WINDOW = 16 << 10, LARGEST_ARGUMENTS = 128 << 10 };

static struct {
    struct mt_lock lock;
    struct mt_chunk_header *chunk;
    uint32_t used; /* bytes of the chunk, header included */
} g_meta;

static bool open_window(size_t length) {
    size_t wanted = MT_CHUNK_HEADER_SIZE + length;
    size_t window =
        wanted <= WINDOW ? WINDOW : (wanted + MT_PAGE_SIZE - 1) / MT_PAGE_SIZE * MT_PAGE_SIZE;
    struct mt_chunk_header *chunk = mt_trace_file_chunk(
        MT_CHUNK_META, MT_ENCODING_PLAIN, (uint32_t)window, mt_clock_event_time(), 0, 0);
    if (!chunk)
        return false;
    g_meta.chunk = chunk;
    g_meta.used = MT_CHUNK_HEADER_SIZE;
    return true;
}

static void append(uint16_t type, const struct mt_piece *pieces, int count, size_t length) {
    uint8_t *start = (uint8_t *)g_meta.chunk + g_meta.used, *at = start;
    /* The first piece begins with the record header: it is stored by hand, its type last. */
    for (int i = 0; i < count; i++) {
        size_t skip = i == 0 ? sizeof(struct mt_record) : 0;
        memcpy(at + skip, (const uint8_t *)pieces[i].bytes + skip, pieces[i].length - skip);
        at += pieces[i].length;
    }
    struct mt_record *record = (struct mt_record *)start;
    record->length = (uint32_t)length;
    __atomic_store_n(&record->type, type, __ATOMIC_RELEASE);
    g_meta.used += (uint32_t)((length + 7) & ~(size_t)7);
}

static void append_checksum(const struct mt_chunk_header *chunk, uint32_t length) {
    struct mt_checksum_record record = {.sequence = chunk->sequence,
                                        .checksum =
                                            mt_checksum_of(chunk->sequence, 0, chunk + 1, length),
                                        .length = length};
    struct mt_piece piece = {&record, sizeof record};
    append(MT_RECORD_CHECKSUM, &piece, 1, sizeof record);
}

/* The checksum of a full window is in the next. */
static bool make_room(size_t length) {
    struct mt_chunk_header *full = g_meta.chunk;
    if (full && g_meta.used + length <= full->length)
        return true;
    if (!open_window(length + (full ? sizeof(struct mt_checksum_record) : 0)))
        return false;
    if (full) {
        append_checksum(full, full->length - MT_CHUNK_HEADER_SIZE);
        mt_trace_file_release(full);
    }
    return true;
}

void mt_meta_check(void) {
    uint64_t signals = mt_lock_enter(&g_meta.lock);
    if (g_meta.chunk && make_room(sizeof(struct mt_checksum_record)))
        append_checksum(g_meta.chunk, g_meta.used - MT_CHUNK_HEADER_SIZE);
    mt_lock_exit(&g_meta.lock, signals);
}

int mt_meta_write(uint16_t type, struct mt_piece *pieces, int count) {
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += pieces[i].length;
    uint64_t signals = mt_lock_enter(&g_meta.lock);
    bool has_room = make_room((length + 7) & ~(size_t)7);
    if (has_room)
        append(type, pieces, count, length);
    mt_lock_exit(&g_meta.lock, signals);
    return has_room ? 0 : -ENOSPC;
}

void mt_meta_note(enum mt_note_kind kind, uint64_t value, const char *text) {
    struct mt_note_record note = {.time = mt_clock_event_time(),
                                  .value = value,
                                  .kind = kind,
                                  .text_length = (uint32_t)mt_text_length(text)};
    struct mt_piece pieces[] = {{&note, sizeof note}, {text, note.text_length}};
    mt_meta_write(MT_RECORD_NOTE, pieces, 2);
}

void mt_meta_note_about(enum mt_note_kind kind, uint64_t value, const char *subject,
                        const char *path) {
    uint32_t subject_length = (uint32_t)mt_text_length(subject);
    size_t length = mt_text_length(path);
    uint32_t path_length = length < PATH_MAX ? (uint32_t)length : PATH_MAX;
    struct mt_note_record note = {.time = mt_clock_event_time(),
                                  .value = value,
                                  .kind = kind,
                                  .text_length = subject_length + 2 + path_length};
    struct mt_piece pieces[] = {
        {&note, sizeof note}, {subject, subject_length}, {": ", 2}, {path, path_length}};
    mt_meta_write(MT_RECORD_NOTE, pieces, 4);
}

bool mt_meta_may_write(uint32_t *written, const char *rest) {
    if (mt_trace_file_is_sealed())
        return false;
    uint32_t number = __atomic_fetch_add(written, 1, __ATOMIC_RELAXED);
    if (number == MT_META_MOST_ERRORS)
        mt_meta_note(MT_NOTE_TEXT, 0, rest);
    return number < MT_META_MOST_ERRORS;
}

void mt_meta_thread(uint32_t index, uint32_t tid, enum mt_thread_state state, const char *name) {
    struct mt_thread_record thread = {.time = mt_clock_event_time(),
                                      .thread = index,
                                      .tid = tid,
                                      .state = state,
                                      .name_length = (uint32_t)mt_text_length(name)};
    struct mt_piece pieces[] = {{&thread, sizeof thread}, {name, thread.name_length}};
    mt_meta_write(MT_RECORD_THREAD, pieces, 2);
}

/* The arguments with which the program was executed, also in forked children: by then it may have
 * written what it is doing over them, with what is left of them behind that. */
static struct mt_piece executed_arguments(void) {
    static char *arguments;
    static size_t length;
    if (!arguments && (arguments = mt_os_map_pages(LARGEST_ARGUMENTS))) {
        long read = mt_os_read_file("/proc/self/cmdline", arguments, LARGEST_ARGUMENTS);
        length = read > 0 ? (size_t)read : 0;
    }
    return (struct mt_piece){arguments, length};
}

void mt_meta_process(void) {
    static char executable[PATH_MAX], directory[PATH_MAX]; /* one caller, perhaps little stack */
    size_t executable_length = mt_executable_path(executable, sizeof executable);
    long directory_length = mt_os_getcwd(directory, sizeof directory);
    struct mt_piece arguments = executed_arguments();
    struct mt_process_record process = {
        .time = mt_clock_event_time(),
        .executable_length = (uint32_t)executable_length,
        /* getcwd counts the terminator. */
        .directory_length = directory_length > 1 ? (uint32_t)directory_length - 1 : 0,
        .arguments_length = (uint32_t)arguments.length};
    struct mt_piece pieces[] = {{&process, sizeof process},
                                {executable, process.executable_length},
                                {directory, process.directory_length},
                                arguments};
    mt_meta_write(MT_RECORD_PROCESS, pieces, 4);
}

/* A title is padded, or ends where the arguments did. */
static void cut_spaces(char *text) {
    for (size_t length = mt_text_length(text); length > 0 && text[length - 1] == ' '; length--)
        text[length - 1] = 0;
}

/* Programs that only hide an argument, such as a password, leave their name as it was; who takes it
 * apart (dirname) the beginning of it. */
void mt_meta_title(void) {
    enum { LONGEST_TITLE = 256 };
    char title[LONGEST_TITLE];
    struct mt_piece arguments = executed_arguments();
    if (arguments.length == 0 || mt_os_read_file("/proc/self/cmdline", title, sizeof title) <= 0)
        return;
    cut_spaces(title);
    if (strncmp(title, arguments.bytes, mt_text_length(title)) != 0)
        mt_meta_note(MT_NOTE_TITLE, 0, title);
}

void mt_meta_reset(void) {
    mt_lock_reset(&g_meta.lock);
    g_meta.chunk = NULL;
    g_meta.used = 0;
}
