/* See refcount_writer.h. */
#include "trace/refcount_writer.h"

#include "base/clock.h"
#include "trace/event_encoder.h"
#include "trace/trace_file.h"
#include <stddef.h>
#include <string.h>

enum { FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 256 << 10 };
enum { RESERVED = 2 * MT_REFCOUNT_MAX_LENGTH }; /* at the end of a chunk */

/* An event being put together. */
struct draft {
    uint8_t *at; /* end of what is written */
    uint8_t tag;
};

static bool refill(struct mt_refcount_writer *writer, uint64_t time, uint32_t thread) {
    uint32_t length = writer->next_length ? writer->next_length : FIRST_CHUNK;
    struct mt_chunk_header *chunk =
        mt_trace_file_chunk(MT_CHUNK_REFCOUNTS, MT_ENCODING_PREDICTED, length, time, thread, 0);
    if (!chunk)
        return false;
    struct mt_chunk_header *full = writer->chunk;
    mt_open_chunk_leave(&writer->open);
    writer->chunk = chunk;
    writer->next_length = length < LARGEST_CHUNK ? length * 2 : length;
    writer->time = time;
    writer->thread = thread;
    memset(&writer->predictor, 0, sizeof writer->predictor);
    writer->cursor = (uint8_t *)(chunk + 1);
    writer->limit = (uint8_t *)chunk + length - RESERVED;
    mt_open_chunk_enter(&writer->open, chunk);
    mt_chunk_finish(full);
    return true;
}

static bool is_ready(struct mt_refcount_writer *writer, uint64_t time, uint32_t thread) {
    if (mt_likely(writer->cursor < writer->limit))
        return true;
    if (mt_trace_file_has_stopped())
        return false;
    /* A handler that jumped away in between would leave cursor and limit in two chunks. */
    uint64_t signals = mt_os_block_signals();
    bool is_refilled = refill(writer, time, thread);
    mt_os_restore_signals(signals);
    return is_refilled;
}

static void finish(struct mt_refcount_writer *writer, struct draft draft) {
    __atomic_store_n(writer->cursor, draft.tag, __ATOMIC_RELEASE);
    __atomic_store_n(&writer->cursor, draft.at, __ATOMIC_RELEASE);
}

static void put_control(struct mt_refcount_writer *writer, enum mt_control control,
                        uint64_t value) {
    struct draft draft = {writer->cursor + 1, (uint8_t)(control << MT_TAG_CONTROL_SHIFT)};
    draft.at = mt_put_varint(draft.at, value);
    finish(writer, draft);
}

static void put_time(struct mt_refcount_writer *writer, struct draft *draft, uint64_t time) {
    /* A step back (counters of two processors) is a very long step forward here. */
    uint64_t passed = time > writer->time ? time - writer->time : 0;
    writer->time += passed;
    draft->at = mt_put_varint(draft->at, passed);
}

static struct mt_refcount_site *put_stack(struct mt_refcount_predictor *predictor,
                                          struct draft *draft, uint32_t stack) {
    if (mt_likely(mt_refcount_after_pair(predictor) == stack)) {
        draft->tag |= MT_SITE_AFTER_PAIR;
    } else if (mt_refcount_after_one(predictor) == stack) {
        draft->tag |= MT_SITE_AFTER_ONE;
    } else {
        uint32_t index = mt_refcount_recent_index(stack);
        draft->tag |= MT_SITE_WRITTEN;
        if (predictor->recent[index] == stack) {
            *draft->at++ = (uint8_t)index;
        } else {
            *draft->at++ = 0;
            int64_t distance = (int64_t)stack - (int64_t)predictor->highest;
            draft->at = mt_put_varint(draft->at, mt_zigzag(distance));
            mt_refcount_learn_full(predictor, stack);
        }
    }
    return mt_refcount_learn_stack(predictor, stack);
}

static void put_call(const struct mt_refcount_site *site, struct draft *draft, uint8_t call,
                     uint32_t amount) {
    if (mt_likely(site->call == call && site->amount == amount))
        return;
    draft->tag |= MT_REFCOUNT_CALL_WRITTEN;
    *draft->at++ = call;
    if (mt_refcount_has_amount(call))
        draft->at = mt_put_varint(draft->at, amount);
}

static void put_object(const struct mt_refcount_predictor *predictor,
                       const struct mt_refcount_site *site, struct draft *draft, uint64_t object) {
    if (predictor->object == object)
        return;
    uint32_t index = mt_refcount_object_index(object);
    if (site->object == object) {
        draft->tag |= MT_OBJECT_OF_SITE << MT_REFCOUNT_OBJECT_SHIFT;
    } else if (mt_refcount_recent_object(predictor, index) == object) {
        draft->tag |= MT_OBJECT_RECENT << MT_REFCOUNT_OBJECT_SHIFT;
        *draft->at++ = (uint8_t)index;
    } else {
        draft->tag |= MT_OBJECT_DISTANCE << MT_REFCOUNT_OBJECT_SHIFT;
        int64_t distance = (int64_t)(object - predictor->object) / 8;
        draft->at = mt_put_varint(draft->at, mt_zigzag(distance));
    }
}

static void put_event(struct mt_refcount_writer *writer, const struct mt_refcount_event *event) {
    struct mt_refcount_predictor *predictor = &writer->predictor;
    struct draft draft = {writer->cursor + 1, 0};
    put_time(writer, &draft, event->time);
    struct mt_refcount_site *site = put_stack(predictor, &draft, event->stack);
    put_call(site, &draft, event->call, event->amount);
    put_object(predictor, site, &draft, event->object);
    if (mt_unlikely(mt_refcount_expected(predictor, event->object) != event->count)) {
        draft.tag |= MT_REFCOUNT_COUNT_WRITTEN;
        draft.at = mt_put_varint(draft.at, event->count);
    }
    mt_refcount_learn(predictor, site, event->call, event->amount, event->object, event->count);
    finish(writer, draft);
}

bool mt_refcount_write(struct mt_refcount_writer *writer, const struct mt_refcount_event *event,
                       uint32_t thread) {
    if (mt_unlikely(!is_ready(writer, event->time, thread)))
        return false;
    if (mt_unlikely(writer->thread != thread)) {
        put_control(writer, MT_CONTROL_THREAD, thread);
        writer->thread = thread;
    }
    put_event(writer, event);
    return true;
}

void mt_refcount_writer_repair(struct mt_refcount_writer *writer) {
    if (!writer->cursor)
        return;
    memset(writer->cursor, 0, MT_REFCOUNT_MAX_LENGTH);
    if (writer->cursor >= writer->limit)
        return; /* the next event begins a chunk */
    memset(&writer->predictor, 0, sizeof writer->predictor);
    writer->time = mt_clock_event_time();
    put_control(writer, MT_CONTROL_RESET, writer->time);
}

void mt_refcount_writer_forget(struct mt_refcount_writer *writer) {
    memset(writer, 0, offsetof(struct mt_refcount_writer, predictor)); /* which a refill clears */
}

void mt_refcount_writer_survive_fork(const struct mt_refcount_writer *writer) {
    if (writer->chunk && writer->limit)
        mt_os_map_pages_at(writer->chunk,
                           (size_t)(writer->limit + RESERVED - (uint8_t *)writer->chunk));
}
