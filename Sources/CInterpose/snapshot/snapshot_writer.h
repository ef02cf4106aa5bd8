/* Writes the chunks of a snapshot: records, and runs of words.
 *
 * In pages of its own, one chunk at a time, with pwrite: first what is in a chunk, then its header.
 * So a chunk exists as a whole or not at all, and a full disk is an error code. */
#ifndef MT_SNAPSHOT_WRITER_H
#define MT_SNAPSHOT_WRITER_H

#include "base/os.h"
#include "memtrace_snapshot.h"

struct mt_snapshot_writer {
    uint8_t *buffer; /* a chunk, header included */
    uint8_t *cursor;
    uint8_t *limit;
    uint16_t encoding;          /* of the chunk in the buffer */
    struct mt_snapshot_run run; /* the one that is open; address 0: none */
    uint8_t *run_start;         /* where its header goes */
    uint64_t run_end;           /* one past its last word */
    uint64_t run_value;         /* its last word */
    uint32_t number;
    uint64_t time;
    uint64_t words;
    uint64_t bytes; /* written to the trace */
    long error;     /* 0, or why nothing more is written */
};

/* Begins a snapshot at an event time.
 * returns  0 or -ENOMEM */
long mt_snapshot_writer_begin(struct mt_snapshot_writer *writer, uint32_t number, uint64_t time);
/* Writes what is in the buffer. */
void mt_snapshot_writer_flush(struct mt_snapshot_writer *writer);
void mt_snapshot_writer_end(struct mt_snapshot_writer *writer);

/* Appends a record: a struct that begins with struct mt_record, and what follows it. */
void mt_snapshot_record(struct mt_snapshot_writer *writer, uint16_t type, void *fixed,
                        size_t fixed_length, const void *more, size_t more_length);

/* Appends words of a page, whose addresses ascend from call to call.
 *
 * kept  a bit for each word that is written unless it has become 0, that of the first the lowest in
 *       the first element */
void mt_snapshot_words(struct mt_snapshot_writer *writer, uint64_t page, const uint64_t *words,
                       const uint64_t *kept);

#endif
