/* See chunk_checksum.h. */
#include "trace/chunk_checksum.h"

#include "memtrace_checksum.h"
#include "trace/meta_writer.h"
#include "trace/trace_descriptor.h"
#include "trace/trace_file.h"

/* Not so in a forked child that goes on with a hook of its parent, whose windows it does not have.
 */
static bool is_of_this_trace(const struct mt_chunk_header *chunk) {
    return chunk->magic == MT_CHUNK_MAGIC && chunk->trace_tag == mt_trace_file.tag;
}

static void write_record(uint64_t sequence, uint64_t last_time, uint32_t length, uint64_t sum) {
    struct mt_checksum_record record = {
        .sequence = sequence, .checksum = sum, .last_time = last_time, .length = length};
    struct mt_piece piece = {&record, sizeof record};
    mt_meta_write(MT_RECORD_CHECKSUM, &piece, 1);
}

static void check_full(const struct mt_chunk_header *chunk) {
    uint32_t length = chunk->length - MT_CHUNK_HEADER_SIZE;
    write_record(chunk->sequence, chunk->last_time, length,
                 mt_checksum_of(chunk->sequence, chunk->last_time, chunk + 1, length));
}

void mt_chunk_finish(struct mt_chunk_header *full) {
    if (!full)
        return;
    if (is_of_this_trace(full))
        check_full(full);
    mt_trace_file_release(full);
}

struct mt_chunk_part mt_open_chunk_part(const struct mt_open_chunk *open, uint8_t *const *cursor) {
    struct mt_chunk_part part = {__atomic_load_n(&open->offset, __ATOMIC_ACQUIRE), 0};
    uintptr_t start = (uintptr_t)__atomic_load_n(&open->chunk, __ATOMIC_RELAXED);
    uintptr_t end = (uintptr_t)__atomic_load_n(cursor, __ATOMIC_ACQUIRE);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    bool is_same = __atomic_load_n(&open->offset, __ATOMIC_RELAXED) == part.offset;
    if (part.offset && is_same && end > start + MT_CHUNK_HEADER_SIZE &&
        end - start <= MT_CHUNK_MAX_LENGTH)
        part.length = end - start - MT_CHUNK_HEADER_SIZE;
    return part;
}

/* returns  whether all of it could be read */
static bool add_part(int fd, struct mt_chunk_part part, struct mt_checksum *sum) {
    enum { PIECE = 2048 };
    uint8_t bytes[PIECE];
    uint64_t start = part.offset + MT_CHUNK_HEADER_SIZE;
    for (uint64_t done = 0; done < part.length; done += PIECE) {
        size_t wanted = part.length - done < PIECE ? (size_t)(part.length - done) : PIECE;
        if (mt_os_pread(fd, bytes, wanted, start + done) != (long)wanted)
            return false;
        mt_checksum_add(sum, bytes, wanted);
    }
    return true;
}

void mt_chunk_part_check(struct mt_chunk_part part) {
    if (part.length == 0 || mt_trace_file_is_sealed())
        return;
    struct mt_trace_descriptor borrowed = mt_trace_descriptor_borrow(mt_trace_file.path);
    if (borrowed.fd < 0)
        return;
    struct mt_chunk_header header = {0};
    bool is_there =
        mt_os_pread(borrowed.fd, &header, sizeof header, part.offset) == (long)sizeof header &&
        is_of_this_trace(&header) && part.length <= header.length - MT_CHUNK_HEADER_SIZE;
    struct mt_checksum sum = mt_checksum_begin(header.sequence, 0);
    is_there = is_there && add_part(borrowed.fd, part, &sum);
    mt_trace_descriptor_give_back(borrowed);
    if (is_there)
        write_record(header.sequence, 0, (uint32_t)part.length, mt_checksum_end(&sum));
}
