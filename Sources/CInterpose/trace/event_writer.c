/* Takes chunks for events. See event_writer.h. */
#include "trace/event_writer.h"

#include "base/clock.h"
#include "trace/trace_file.h"
#include <stddef.h>
#include <string.h>

/* Whether the second half of a realloc comes next: without the first one it has no stack. */
static bool is_inside_realloc(const struct mt_event_writer *writer) {
    return mt_latest_site(&writer->encoder.predictor)->operation == MT_OP_REALLOC_BEGIN;
}

/* Says when the last event of a full chunk was: who looks for later ones need not read it. */
static void close_chunk(const struct mt_event_writer *writer) {
    if (writer->chunk && !is_inside_realloc(writer))
        __atomic_store_n(&writer->chunk->last_time, writer->time, __ATOMIC_RELEASE);
}

/* Memory that is zero because nobody has touched it stays so: a short process needs few of its
 * pages. */
static void clear_encoder(struct mt_event_writer *writer) {
    if (writer->has_encoded)
        memset(&writer->encoder, 0, sizeof writer->encoder);
    writer->has_encoded = true;
}

static bool refill(struct mt_event_writer *writer, uint64_t time, uint32_t thread) {
    uint32_t length = writer->next_length ? writer->next_length : MT_FIRST_EVENT_CHUNK;
    struct mt_chunk_header *chunk =
        mt_trace_file_chunk(MT_CHUNK_EVENTS, MT_ENCODING_PREDICTED, length, time, thread, 0);
    if (!chunk)
        return false;
    close_chunk(writer);
    struct mt_chunk_header *full = writer->chunk;
    mt_open_chunk_leave(&writer->open);
    writer->chunk = chunk;
    writer->next_length = length < MT_LARGEST_EVENT_CHUNK ? length * 2 : length;
    writer->time = time;
    clear_encoder(writer);
    writer->thread = thread;
    writer->cursor = (uint8_t *)(chunk + 1);
    writer->limit = (uint8_t *)chunk + length - 2 * MT_EVENT_MAX_LENGTH;
    mt_open_chunk_enter(&writer->open, chunk);
    mt_chunk_finish(full);
    return true;
}

/* A handler that jumped away in between would leave the cursor in one chunk, the limit in another.
 */
bool mt_event_writer_refill(struct mt_event_writer *writer, uint64_t time, uint32_t thread) {
    if (mt_trace_file_has_stopped())
        return false;
    uint64_t signals = mt_os_block_signals();
    bool is_ready = refill(writer, time, thread);
    mt_os_restore_signals(signals);
    return is_ready;
}

/* Says that the encoder has been cleared. */
static void write_reset(struct mt_event_writer *writer) {
    writer->time = mt_clock_event_time();
    struct mt_event event = {writer->cursor + 1, MT_CONTROL_RESET << MT_TAG_CONTROL_SHIFT};
    event.at = mt_put_varint(event.at, writer->time);
    mt_event_finish(writer, event);
}

void mt_event_writer_repair(struct mt_event_writer *writer) {
    if (!writer->cursor)
        return;
    memset(writer->cursor, 0, MT_EVENT_MAX_LENGTH);
    if (writer->cursor >= writer->limit)
        return; /* the next event begins a chunk */
    memset(&writer->encoder, 0, sizeof writer->encoder);
    write_reset(writer);
}

/* Only the parts of pages at both ends are cleared by writing to them. */
static bool empty_encoder(struct mt_event_encoder *encoder) {
    uintptr_t page = MT_PAGE_SIZE - 1, start = (uintptr_t)encoder, end = start + sizeof *encoder;
    uintptr_t first = (start + page) & ~page, last = end & ~page;
    if (mt_os_empty_pages((void *)first, last - first) < 0)
        return false;
    memset((void *)start, 0, first - start);
    memset((void *)last, 0, end - last);
    return true;
}

void mt_event_writer_empty(struct mt_event_writer *writer) {
    if (!writer->has_encoded || !empty_encoder(&writer->encoder))
        return;
    writer->has_encoded = writer->cursor && writer->cursor < writer->limit;
    if (writer->has_encoded)
        write_reset(writer);
}

void mt_event_writer_forget(struct mt_event_writer *writer) {
    memset(writer, 0, offsetof(struct mt_event_writer, encoder)); /* which a refill clears */
    mt_open_chunk_leave(&writer->open);
}

void mt_event_writer_survive_fork(const struct mt_event_writer *writer) {
    if (writer->chunk && writer->limit)
        mt_os_map_pages_at(writer->chunk, (size_t)(writer->limit + 2 * MT_EVENT_MAX_LENGTH -
                                                   (uint8_t *)writer->chunk));
}
