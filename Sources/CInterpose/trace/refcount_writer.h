/* Writes retains and releases into chunks of their own: memtrace_refcounts.h.
 *
 * A writer belongs to one thread at a time and takes no lock, as that of the thread's other events
 * (event_writer.h); the tag of an event is stored last. */
#ifndef MT_REFCOUNT_WRITER_H
#define MT_REFCOUNT_WRITER_H

#include "base/os.h"
#include "memtrace_refcounts.h"
#include "trace/chunk_checksum.h"

struct mt_refcount_writer {
    uint8_t *cursor; /* where the next tag goes; NULL: no chunk */
    uint8_t *limit;  /* beyond this an event and a control event might not fit */
    uint64_t time;   /* of the last event */
    uint32_t thread; /* that it belongs to */
    uint32_t next_length;
    struct mt_chunk_header *chunk;
    struct mt_open_chunk open; /* the same, for other threads */
    struct mt_refcount_predictor predictor;
};

struct mt_refcount_event {
    uint64_t time; /* event time */
    uint64_t object;
    uint64_t count; /* strong references before the call, as the object said */
    uint32_t stack;
    uint32_t amount; /* 1 for calls without one, 0 for MT_REFCOUNT_TRY_RETAIN_NOT */
    uint8_t call;    /* enum mt_refcount_call */
};

/* Appends an event of a thread.
 * returns  false when recording has stopped
 * context  inside a hook; the thread that owns the writer */
bool mt_refcount_write(struct mt_refcount_writer *writer, const struct mt_refcount_event *event,
                       uint32_t thread);

/* After an event was abandoned half-written: as mt_event_writer_repair. */
void mt_refcount_writer_repair(struct mt_refcount_writer *writer);

/* Writes the checksum of what is complete in the present chunk: as mt_event_writer_check. */
static inline void mt_refcount_writer_check(const struct mt_refcount_writer *writer) {
    mt_chunk_part_check(mt_open_chunk_part(&writer->open, &writer->cursor));
}

/* In a forked child: as for the writer of the thread's other events (thread_state.c). */
void mt_refcount_writer_forget(struct mt_refcount_writer *writer);
void mt_refcount_writer_survive_fork(const struct mt_refcount_writer *writer);

#endif
