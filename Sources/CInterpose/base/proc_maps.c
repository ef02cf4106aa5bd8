/* See proc_maps.h. */
#include "base/proc_maps.h"

#include "base/text.h"
#include "memtrace_snapshot.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

static long open_in(const char *folder, const char *name) {
    char path[48];
    struct mt_text text = mt_text_begin(path, sizeof path);
    mt_text_add(&text, folder);
    mt_text_add(&text, name);
    return mt_os_open(MT_AT_CWD, path, O_RDONLY, 0);
}

/* /proc/self is the first thread, which has no memory any more once it has ended. */
long mt_proc_open_memory(const char *name) {
    long fd = open_in("/proc/thread-self/", name); /* since Linux 3.17 */
    return fd >= 0 ? fd : open_in("/proc/self/", name);
}

static long begin(struct mt_maps_reader *reader, long fd) {
    reader->fd = (int)fd;
    reader->used = reader->next = 0;
    return fd < 0 ? fd : 0;
}

long mt_maps_open(struct mt_maps_reader *reader) {
    return begin(reader, mt_proc_open_memory("maps"));
}

bool mt_proc_folder(char folder[MT_PROC_FOLDER_SIZE], long pid) {
    struct mt_text text = mt_text_begin(folder, MT_PROC_FOLDER_SIZE);
    if (pid == 0) {
        mt_text_add(&text, "/proc/thread-self/");
        return true;
    }
    char own[16];
    /* In the /proc of another namespace the number is that of another process. */
    long length = mt_os_readlink("/proc/self", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    uint64_t number;
    if (!mt_text_parse_number(own, &number) || number != (uint64_t)mt_os_pid())
        return false;
    mt_text_add(&text, "/proc/");
    mt_text_add_number(&text, (uint64_t)pid);
    mt_text_add(&text, "/");
    return true;
}

long mt_maps_open_details(struct mt_maps_reader *reader, long pid) {
    char folder[MT_PROC_FOLDER_SIZE];
    return begin(reader, mt_proc_folder(folder, pid) ? open_in(folder, "smaps") : -ENOENT);
}

long mt_maps_open_file(struct mt_maps_reader *reader, const char *path) {
    return begin(reader, mt_os_open(MT_AT_CWD, path, O_RDONLY, 0));
}

void mt_maps_close(struct mt_maps_reader *reader) {
    if (reader->fd >= 0)
        mt_os_close(reader->fd);
}

static const char *skip_field(const char *at) {
    while (*at && *at != ' ')
        at++;
    while (*at == ' ')
        at++;
    return at;
}

/* "START-END rwxp OFFSET DEVICE INODE   PATH"; details begin with their names, in capitals. */
bool mt_map_line_read(char *text, size_t length, struct mt_map_line *line) {
    const char *at = text;
    if (*at >= 'A' && *at <= 'Z')
        return false;
    line->start = mt_text_take_hex(&at);
    at += *at == '-';
    line->end = mt_text_take_hex(&at);
    at = skip_field(at);
    line->protection = 0;
    line->is_shared = false;
    for (; *at && *at != ' '; at++) {
        line->protection |= *at == 'r'   ? MT_SNAPSHOT_READ
                            : *at == 'w' ? MT_SNAPSHOT_WRITE
                            : *at == 'x' ? MT_SNAPSHOT_EXECUTE
                                         : 0u;
        line->is_shared |= *at == 's';
    }
    at = skip_field(at);
    line->file_offset = mt_text_take_hex(&at);
    at = skip_field(skip_field(skip_field(at)));
    line->path = text + (at - text);
    line->path_length = length - (size_t)(at - text);
    return true;
}

/* Fills the buffer up behind what is left of it. */
static bool fill(struct mt_maps_reader *reader) {
    memmove(reader->buffer, reader->buffer + reader->next, reader->used - reader->next);
    reader->used -= reader->next;
    reader->next = 0;
    long count =
        mt_os_read(reader->fd, reader->buffer + reader->used, sizeof reader->buffer - reader->used);
    if (count <= 0)
        return false;
    reader->used += (size_t)count;
    return true;
}

char *mt_maps_next_text(struct mt_maps_reader *reader, size_t *length) {
    for (;;) {
        char *start = reader->buffer + reader->next;
        char *end = memchr(start, '\n', reader->used - reader->next);
        if (end) {
            *end = 0;
            *length = (size_t)(end - start);
            reader->next += *length + 1;
            return start;
        }
        if (!fill(reader))
            return NULL;
    }
}

bool mt_maps_next(struct mt_maps_reader *reader, struct mt_map_line *line) {
    size_t length;
    char *text = mt_maps_next_text(reader, &length);
    return text && mt_map_line_read(text, length, line);
}
