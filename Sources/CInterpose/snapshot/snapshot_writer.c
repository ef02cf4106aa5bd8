/* See snapshot_writer.h. */
#include "snapshot/snapshot_writer.h"

#include "trace/trace_file.h"
#include "trace/varint.h"
#include <errno.h>
#include <string.h>

enum { BUFFER = 256 << 10 };

static void rewind_buffer(struct mt_snapshot_writer *writer, uint16_t encoding) {
    writer->encoding = encoding;
    writer->cursor = writer->buffer + MT_CHUNK_HEADER_SIZE;
    writer->run_start = NULL;
}

long mt_snapshot_writer_begin(struct mt_snapshot_writer *writer, uint32_t number, uint64_t time) {
    memset(writer, 0, sizeof *writer);
    writer->buffer = mt_os_map_pages(BUFFER);
    if (!writer->buffer)
        return -ENOMEM;
    writer->limit = writer->buffer + BUFFER;
    writer->number = number;
    writer->time = time;
    rewind_buffer(writer, MT_ENCODING_PLAIN);
    return 0;
}

void mt_snapshot_writer_end(struct mt_snapshot_writer *writer) {
    mt_snapshot_writer_flush(writer);
    mt_os_unmap_pages(writer->buffer, BUFFER);
}

static void close_run(struct mt_snapshot_writer *writer) {
    if (!writer->run_start)
        return;
    uint8_t *words = writer->run_start + sizeof writer->run;
    writer->run.length = (uint32_t)(writer->cursor - words);
    memcpy(writer->run_start, &writer->run, sizeof writer->run);
    writer->run_start = NULL;
    while ((writer->cursor - writer->buffer) % 8)
        *writer->cursor++ = 0;
}

void mt_snapshot_writer_flush(struct mt_snapshot_writer *writer) {
    close_run(writer);
    size_t used = (size_t)(writer->cursor - writer->buffer);
    if (used > MT_CHUNK_HEADER_SIZE && !writer->error) {
        size_t length = (used + MT_CHUNK_ALIGNMENT - 1) & ~(size_t)(MT_CHUNK_ALIGNMENT - 1);
        memset(writer->cursor, 0, length - used);
        struct mt_chunk_header *chunk = (struct mt_chunk_header *)writer->buffer;
        *chunk = (struct mt_chunk_header){.kind = MT_CHUNK_SNAPSHOT,
                                          .encoding = writer->encoding,
                                          .length = (uint32_t)length,
                                          .base_time = writer->time,
                                          .first_id = writer->number};
        writer->error = mt_trace_file_append(chunk);
        if (!writer->error)
            writer->bytes += length;
    }
    rewind_buffer(writer, writer->encoding);
}

/* Makes room for so many bytes in a chunk of this encoding. */
static void make_room(struct mt_snapshot_writer *writer, uint16_t encoding, size_t length) {
    if (writer->encoding == encoding && length <= (size_t)(writer->limit - writer->cursor))
        return;
    mt_snapshot_writer_flush(writer);
    writer->encoding = encoding;
}

void mt_snapshot_record(struct mt_snapshot_writer *writer, uint16_t type, void *fixed,
                        size_t fixed_length, const void *more, size_t more_length) {
    size_t length = fixed_length + more_length, padded = (length + 7) & ~(size_t)7;
    make_room(writer, MT_ENCODING_PLAIN, padded);
    struct mt_record *record = fixed;
    *record = (struct mt_record){.length = (uint32_t)length, .type = type};
    memcpy(writer->cursor, fixed, fixed_length);
    memcpy(writer->cursor + fixed_length, more, more_length);
    memset(writer->cursor + length, 0, padded - length);
    writer->cursor += padded;
}

static void open_run(struct mt_snapshot_writer *writer, uint64_t address, size_t length) {
    make_room(writer, MT_ENCODING_WORDS, sizeof writer->run + length);
    writer->run_start = writer->cursor;
    writer->run = (struct mt_snapshot_run){.address = address};
    writer->cursor += sizeof writer->run;
    writer->run_end = address;
    writer->run_value = 0;
}

static inline unsigned bytes_of(uint64_t value) {
    return value ? (71u - (unsigned)__builtin_clzll(value)) / 8u : 0;
}

/* Writes a word where there is room for it.
 *
 * end, value  one past the word before it in its run, and that word
 * returns     where the next goes */
static inline uint8_t *put_word(uint8_t *at, uint64_t address, uint64_t word, uint64_t end,
                                uint64_t value) {
    uint64_t gap = (address - end) / 8 + 1;
    uint64_t near = mt_zigzag((int64_t)(word - value));
    uint64_t own = mt_zigzag((int64_t)(word - address));
    unsigned base = own < near ? MT_SNAPSHOT_OWN_ADDRESS : 0;
    uint64_t coded = base ? own : near;
    unsigned size = bytes_of(coded), code = size < 7 ? size : 7;
    *at++ = (uint8_t)(base | code << MT_SNAPSHOT_SIZE_SHIFT | (gap < 16 ? (unsigned)gap : 0));
    if (gap >= 16)
        at = mt_put_varint(at, gap);
    memcpy(at, &coded, 8); /* what is too much is overwritten by the next */
    return at + (code == 7 ? 8 : size);
}

/* Makes sure that words of the page can follow, in the run that is open or in a new one. */
static void continue_run(struct mt_snapshot_writer *writer, uint64_t address) {
    enum { MOST = MT_PAGE_SIZE / 8 * MT_SNAPSHOT_WORD_MAX + 16 };
    if (writer->run_start && writer->limit - writer->cursor >= MOST &&
        address - writer->run_end < UINT64_C(1) << 40)
        return;
    close_run(writer);
    open_run(writer, address, MOST);
}

void mt_snapshot_words(struct mt_snapshot_writer *writer, uint64_t page, const uint64_t *words,
                       const uint64_t *kept) {
    continue_run(writer, page);
    uint8_t *at = writer->cursor;
    uint64_t end = writer->run_end, value = writer->run_value, written = 0;
    for (size_t first = 0; first < MT_PAGE_SIZE / 8; first += 64)
        for (uint64_t left = kept[first / 64]; left; left &= left - 1) {
            size_t i = first + (size_t)__builtin_ctzll(left);
            /* Read once: in the page of the stack that this runs on, words change meanwhile. */
            uint64_t word = *(const volatile uint64_t *)&words[i];
            if (word == 0)
                continue;
            at = put_word(at, page + i * 8, word, end, value);
            end = page + i * 8 + 8;
            value = word;
            written++;
        }
    writer->cursor = at;
    writer->run_end = end;
    writer->run_value = value;
    writer->words += written;
}
