/* Encodes events into a chunk: MT_ENCODING_VARINT of memtrace_format.h.
 *
 * A writer belongs to one thread at a time and takes no lock. The tag of an event is stored last
 * (release); until then the chunk ends before it, for a reader of the file and after a kill. */
#ifndef MT_EVENT_WRITER_H
#define MT_EVENT_WRITER_H

#include "memtrace_format.h"
#include "os.h"

struct mt_event_writer {
    uint8_t *cursor; /* where the next tag goes; NULL: no chunk */
    uint8_t *limit;  /* beyond this an event and a THREAD event might not fit */
    uint64_t time;   /* running values, as the decoder keeps them */
    uint64_t address;
    uint32_t stack;
    uint32_t thread;
    uint32_t next_length; /* bytes of the next chunk: chunks grow with the thread's activity */
    struct mt_chunk_header *chunk;
};

enum { MT_FIRST_EVENT_CHUNK = 16 << 10, MT_LARGEST_EVENT_CHUNK = 256 << 10 };

/* Begins a new chunk, releasing the full one.
 * returns  false when recording has stopped */
bool mt_event_writer_refill(struct mt_event_writer *writer, uint64_t time, uint32_t thread);

/* After an event was abandoned half-written (longjmp out of a handler that interrupted it): clears
 * what it left behind. */
void mt_event_writer_repair(struct mt_event_writer *writer);

static inline uint8_t *mt_put_varint(uint8_t *at, uint64_t value) {
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static inline uint64_t mt_zigzag(int64_t value) {
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

/* One event being put together: `at` moves over the body, `tag` is stored by mt_event_finish. */
struct mt_event {
    uint8_t *at;
    uint8_t tag;
};

/* time is an event time; a step back (counters of two processors) becomes none. */
static inline struct mt_event mt_event_begin(struct mt_event_writer *writer, uint8_t operation,
                                             uint64_t time) {
    uint64_t passed = time > writer->time ? time - writer->time : 0;
    writer->time += passed;
    return (struct mt_event){mt_put_varint(writer->cursor + 1, passed), operation};
}

static inline void mt_event_address(struct mt_event *event, struct mt_event_writer *writer,
                                    uint64_t address) {
    int64_t distance = (int64_t)(address - writer->address);
    writer->address = address;
    if (mt_unlikely(distance & 15))
        event->tag |= MT_TAG_FINE;
    else
        distance >>= 4;
    event->at = mt_put_varint(event->at, mt_zigzag(distance));
}

static inline void mt_event_stack(struct mt_event *event, struct mt_event_writer *writer,
                                  uint32_t stack) {
    int64_t distance = (int64_t)stack - (int64_t)writer->stack;
    writer->stack = stack;
    event->at = mt_put_varint(event->at, mt_zigzag(distance));
}

static inline void mt_event_number(struct mt_event *event, uint64_t number) {
    event->at = mt_put_varint(event->at, number);
}

static inline void mt_event_finish(struct mt_event *event, struct mt_event_writer *writer) {
    uint8_t *tag = writer->cursor;
    __atomic_store_n(tag, event->tag, __ATOMIC_RELEASE);
    writer->cursor = event->at;
}

static inline bool mt_event_writer_ready(struct mt_event_writer *writer, uint64_t time,
                                         uint32_t thread) {
    if (mt_likely(writer->cursor < writer->limit))
        return true;
    return mt_event_writer_refill(writer, time, thread);
}

/* Says that what follows is of another thread: a chunk was handed on. */
static inline void mt_event_thread(struct mt_event_writer *writer, uint64_t time, uint32_t thread) {
    struct mt_event event = mt_event_begin(writer, MT_OP_THREAD, time);
    mt_event_number(&event, thread);
    mt_event_finish(&event, writer);
    writer->thread = thread;
}

#endif
