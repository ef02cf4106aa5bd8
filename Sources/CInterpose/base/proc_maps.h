/* Reads /proc/self/maps, without memory of its own to speak of. */
#ifndef MT_PROC_MAPS_H
#define MT_PROC_MAPS_H

#include "base/os.h"

/* One line: a mapping. */
struct mt_map_line {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    uint32_t protection; /* enum mt_snapshot_protection */
    bool is_shared;
    char *path; /* terminated; empty when it has none; as the kernel writes it */
    size_t path_length;
};

struct mt_maps_reader {
    int fd;
    size_t used; /* bytes of the buffer that are filled */
    size_t next; /* where the next line begins */
    char buffer[3 * MT_PAGE_SIZE];
};

enum { MT_PROC_FOLDER_SIZE = 32 };

/* The folder of a process, with the slash behind it.
 *
 * pid      0: this process
 * returns  false where it is not known: this /proc is that of another namespace
 * context  async-signal-safe */
bool mt_proc_folder(char folder[MT_PROC_FOLDER_SIZE], long pid);

/* Opens a file of /proc that tells of the memory of this process, for reading.
 *
 * name     "maps", "pagemap" or "mem"
 * returns  the descriptor or -errno
 * context  any thread, also where the first one of the process has ended; async-signal-safe */
long mt_proc_open_memory(const char *name);

/* returns  0 or -errno: -ENOENT where /proc is not mounted
 * context  any thread; async-signal-safe; the reader is too big for a small stack */
long mt_maps_open(struct mt_maps_reader *reader);
/* The same of another process: its smaps, which have further lines about each mapping. */
long mt_maps_open_details(struct mt_maps_reader *reader, long pid);
/* Any other file of lines: only mt_maps_next_text reads it. */
long mt_maps_open_file(struct mt_maps_reader *reader, const char *path);
/* The next mapping, in ascending order; false at the end. Valid until the next call. */
bool mt_maps_next(struct mt_maps_reader *reader, struct mt_map_line *line);
/* The next line, of whatever it is; NULL at the end. Valid until the next call. */
char *mt_maps_next_text(struct mt_maps_reader *reader, size_t *length);
/* Reads a line that is about a mapping; false for one that is a detail. */
bool mt_map_line_read(char *text, size_t length, struct mt_map_line *line);
void mt_maps_close(struct mt_maps_reader *reader);

#endif
