/* Writes events into a chunk: MT_ENCODING_PREDICTED of memtrace_format.h.
 *
 * A writer belongs to one thread at a time and takes no lock. The tag of an event is stored last
 * (release); until then the chunk ends before it, for a reader of the file and after a kill. */
#ifndef MT_EVENT_WRITER_H
#define MT_EVENT_WRITER_H

#include "base/os.h"
#include "trace/chunk_checksum.h"
#include "trace/event_encoder.h"

struct mt_event_writer {
    uint8_t *cursor; /* where the next tag goes; NULL: no chunk */
    uint8_t *limit;  /* beyond this an event and a THREAD event might not fit */
    uint64_t time;   /* of the last event that had one */
    uint32_t thread;
    uint32_t next_length; /* bytes of the next chunk: chunks grow with the thread's activity */
    struct mt_chunk_header *chunk;
    struct mt_event_encoder encoder;
    bool has_encoded;          /* so that the next chunk has to clear it */
    struct mt_open_chunk open; /* the chunk, for other threads */
};

enum { MT_FIRST_EVENT_CHUNK = 16 << 10, MT_LARGEST_EVENT_CHUNK = 256 << 10 };

/* When an event happened. One that is not exact may be said to be as old as the thread's last
 * event with a time, if that is less than MT_UNTIMED_SPAN ago: enough while nothing else orders
 * itself by it. */
struct mt_stamp {
    uint64_t time; /* event time */
    bool is_exact;
};

enum { MT_UNTIMED_SPAN = 4096 }; /* of 5 ns: two bytes of time every few hundred events */

/* Begins a new chunk, releasing the full one.
 * returns  false when recording has stopped */
bool mt_event_writer_refill(struct mt_event_writer *writer, uint64_t time, uint32_t thread);

/* After an event was abandoned half-written (longjmp out of a handler that interrupted it): clears
 * what it left behind, and what it taught the encoder. */
void mt_event_writer_repair(struct mt_event_writer *writer);

/* Gives back the memory of what the encoder knows, while no event is being written: the next one is
 * encoded as the first of a chunk is. */
void mt_event_writer_empty(struct mt_event_writer *writer);

/* Writes the checksum of what is complete in the present chunk.
 * context  any thread, also while the writer's own goes on; as mt_chunk_part_check */
static inline void mt_event_writer_check(const struct mt_event_writer *writer) {
    mt_chunk_part_check(mt_open_chunk_part(&writer->open, &writer->cursor));
}

/* Starts over in a forked child, whose trace has no chunk yet. */
void mt_event_writer_forget(struct mt_event_writer *writer);

/* In a forked child of a hook that will go on writing: the next event begins a chunk. */
static inline void mt_event_writer_leave(struct mt_event_writer *writer) {
    writer->limit = NULL;
    mt_open_chunk_leave(&writer->open);
}

/* In a forked child of a hook that will go on writing: where the window of the parent's trace was,
 * which is not mapped here, it finds memory. Async-signal-safe. */
void mt_event_writer_survive_fork(const struct mt_event_writer *writer);

static inline bool mt_event_writer_is_full(const struct mt_event_writer *writer) {
    return writer->cursor >= writer->limit;
}

static inline bool mt_event_writer_ready(struct mt_event_writer *writer, uint64_t time,
                                         uint32_t thread) {
    if (mt_likely(!mt_event_writer_is_full(writer)))
        return true;
    return mt_event_writer_refill(writer, time, thread);
}

/* ---- Fetched ahead ----
 *
 * In a program that uses all of the caches, what a table says of an event comes from far away. */

/* What is expected of the next event: it comes while the host runs. */
static inline void mt_event_fetch_next(const struct mt_event_writer *writer) {
    const struct mt_predictor *predictor = &writer->encoder.predictor;
    __builtin_prefetch(&predictor->pairs[predictor->pair_hash >> (32 - MT_PAIR_BITS)], 1);
}

/* What the expected site has done: it comes while the stack is taken. */
static inline void mt_event_fetch_site(const struct mt_event_writer *writer) {
    const struct mt_predictor *predictor = &writer->encoder.predictor;
    uint32_t hash = mt_site_hash(mt_site_after_pair(predictor));
    __builtin_prefetch(&predictor->sites[hash >> (32 - MT_SITE_BITS)], 1);
}

/* ---- One event: begin, fields, finish ---- */

static inline struct mt_event mt_event_begin(struct mt_event_writer *writer,
                                             struct mt_stamp stamp) {
    struct mt_event event = {writer->cursor + 1, 0};
    /* A step back (counters of two processors) is a very long step forward here. */
    if (mt_likely(!stamp.is_exact && stamp.time - writer->time < MT_UNTIMED_SPAN))
        return event;
    uint64_t passed = stamp.time > writer->time ? stamp.time - writer->time : 0;
    writer->time += passed;
    event.tag = MT_TAG_TIME;
    event.at = mt_put_varint(event.at, passed);
    return event;
}

static inline void mt_event_finish(struct mt_event_writer *writer, struct mt_event event) {
    uint8_t *tag = writer->cursor;
    __atomic_store_n(tag, event.tag, __ATOMIC_RELEASE);
    __atomic_store_n(&writer->cursor, event.at, __ATOMIC_RELEASE);
    mt_event_fetch_next(writer);
}

/* A block was allocated. alignment: 0 for operations that carry none. */
MT_INLINE void mt_event_allocation(struct mt_event_writer *writer, struct mt_stamp stamp,
                                   uint8_t operation, uint64_t address, uint32_t stack,
                                   uint64_t size, uint64_t alignment) {
    struct mt_event event = mt_event_begin(writer, stamp);
    struct mt_site *site = mt_put_site(&writer->encoder, &event, stack << 1);
    mt_put_operation(&event, site, operation, size, alignment);
    mt_put_allocated(&writer->encoder, &event, address, size);
    mt_event_finish(writer, event);
}

/* A block is about to be freed, or to be reallocated. size and alignment: 0 for operations that
 * carry none. */
MT_INLINE void mt_event_deallocation(struct mt_event_writer *writer, struct mt_stamp stamp,
                                     uint8_t operation, uint64_t address, uint32_t stack,
                                     uint64_t size, uint64_t alignment) {
    struct mt_event event = mt_event_begin(writer, stamp);
    struct mt_site *site = mt_put_site(&writer->encoder, &event, stack << 1);
    mt_put_operation(&event, site, operation, size, alignment);
    mt_put_freed(&writer->encoder, &event, site, address);
    mt_event_finish(writer, event);
}

/* The outcome of a realloc. operation: MT_OP_REALLOC_END with the new block's address, or with 0
 * MT_OP_REALLOC_FAIL, or MT_OP_REALLOC_LEFT for a new block that is not in the sample. */
static inline void mt_event_realloc_end(struct mt_event_writer *writer, struct mt_stamp stamp,
                                        uint8_t operation, uint64_t address, uint64_t size) {
    struct mt_event event = mt_event_begin(writer, stamp);
    mt_site_name second_half = writer->encoder.predictor.latest | 1;
    struct mt_site *site = mt_put_site(&writer->encoder, &event, second_half);
    mt_put_operation(&event, site, operation, size, 0);
    if (address)
        mt_put_allocated(&writer->encoder, &event, address, size);
    mt_event_finish(writer, event);
}

/* An allocation that returned NULL. */
static inline void mt_event_failed(struct mt_event_writer *writer, struct mt_stamp stamp,
                                   uint8_t operation, uint32_t stack, uint64_t size) {
    struct mt_event event = mt_event_begin(writer, stamp);
    event.tag |= MT_CONTROL_FAILED << MT_TAG_CONTROL_SHIFT;
    event.at = mt_put_varint(event.at, stack);
    event.at = mt_put_varint(event.at, size);
    *event.at++ = operation;
    mt_event_finish(writer, event);
}

/* What follows is of another thread: a chunk was handed on. */
static inline void mt_event_thread(struct mt_event_writer *writer, uint64_t time, uint32_t thread) {
    struct mt_event event = mt_event_begin(writer, (struct mt_stamp){time, true});
    event.tag |= MT_CONTROL_THREAD << MT_TAG_CONTROL_SHIFT;
    event.at = mt_put_varint(event.at, thread);
    mt_event_finish(writer, event);
    writer->thread = thread;
}

#endif
