/* Appends META records (process, images, threads, notes) to the trace.
 *
 * All under one lock; the current window stays mapped. A record counts once its type is stored,
 * which happens last. */
#ifndef MT_META_WRITER_H
#define MT_META_WRITER_H

#include "base/os.h"
#include "memtrace_format.h"

/* One piece of a record: its fixed struct first, then its strings. */
struct mt_piece {
    const void *bytes;
    size_t length;
};

/* Appends one record made of `count` pieces; the first begins with a struct mt_record, whose
 * length and type are filled in here.
 *
 * returns  0, -ENOSPC when recording has stopped
 * context  any thread; errno untouched */
int mt_meta_write(uint16_t type, struct mt_piece *pieces, int count);

void mt_meta_note(enum mt_note_kind kind, uint64_t value, const char *text);

/* A note "subject: path", of which what is longer than a path can be is left out. */
void mt_meta_note_about(enum mt_note_kind kind, uint64_t value, const char *subject,
                        const char *path);

/* For records of errors, of which a program may make one with every block: whether one more is to
 * be written. Not in a sandbox.
 *
 * written  how many there were
 * rest     what the note says that takes the place of all after MT_META_MOST_ERRORS */
bool mt_meta_may_write(uint32_t *written, const char *rest);
enum { MT_META_MOST_ERRORS = 4096 };

void mt_meta_thread(uint32_t index, uint32_t tid, enum mt_thread_state state, const char *name);

/* Describes this process image: executable, working directory, arguments. */
void mt_meta_process(void);

/* Notes the title that the process has given itself since, if it has: servers say by it what each
 * of their processes is for. At the end. */
void mt_meta_title(void);

/* Writes the checksum of the records so far in the present window. */
void mt_meta_check(void);

/* Drops the window in a forked child. */
void mt_meta_reset(void);

#endif
