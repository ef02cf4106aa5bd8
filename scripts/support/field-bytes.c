/* Prints where the bytes of a trace go: a Markdown table of bytes per event by kind of field, and
 * how often each field had to be written. Decodes as docs/trace-format.md section 7 says, with the
 * tables of memtrace_predictor.h; a damaged chunk is left where it goes wrong.
 *
 * Fails on a trace without events, and on one that was packed, unpacked again or not: its events are
 * encoded in columns.
 *
 * usage: field-bytes TRACE */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memtrace_format.h"
#include "memtrace_predictor.h"

enum field { TAG, TIME, SITE, OPERATION, NEW_ADDRESS, FREED_ADDRESS, CONTROL, FIELDS };

static const char *const g_names[FIELDS] = {"tag",
                                            "time",
                                            "site",
                                            "operation, size, alignment",
                                            "address of a new block",
                                            "address of a freed block",
                                            "control events"};

static uint64_t g_bytes[FIELDS], g_written[FIELDS], g_events, g_other_encodings;
static uint64_t g_chunks[MT_CHUNK_SNAPSHOT + 1];

struct stream {
    const uint8_t *at, *end;
    struct mt_predictor predictor;
};

static uint64_t take_byte(struct stream *stream) {
    return stream->at < stream->end ? *stream->at++ : 0;
}

static uint64_t take_varint(struct stream *stream) {
    uint64_t value = 0, byte;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        byte = take_byte(stream);
        value |= (byte & 0x7f) << (shift & 63);
        if (byte < 0x80)
            break;
    }
    return value;
}

static uint64_t take_zigzag(struct stream *stream) {
    uint64_t value = take_varint(stream);
    return (value >> 1) ^ (0 - (value & 1));
}

/* Adds what was read since `from` to a field. */
static void account(const struct stream *stream, const uint8_t *from, enum field field) {
    g_bytes[field] += (uint64_t)(stream->at - from);
    g_written[field] += stream->at != from;
}

static struct mt_site *take_site(struct stream *stream, uint8_t tag) {
    struct mt_predictor *predictor = &stream->predictor;
    mt_site_name name;
    if ((tag & MT_TAG_SITE) == MT_SITE_AFTER_PAIR)
        name = mt_site_after_pair(predictor);
    else if ((tag & MT_TAG_SITE) == MT_SITE_AFTER_ONE)
        name = mt_site_after_one(predictor);
    else {
        uint32_t index = (uint32_t)take_byte(stream);
        if (index == 0)
            name = predictor->highest + (uint32_t)take_zigzag(stream);
        else
            name = index < MT_NEAR_SITE ? mt_recent_site(predictor, index)
                                        : mt_near_site(predictor, index);
        if (index == 0 || index >= MT_NEAR_SITE)
            mt_learn_full_site(predictor, name);
    }
    return mt_learn_site(predictor, name);
}

static int is_allocation(uint8_t operation) {
    return mt_operation_info(operation).operation_class == MT_CLASS_ALLOCATION ||
           operation == MT_OP_REALLOC_END;
}

/* Returns the size. */
static uint64_t take_operation(struct stream *stream, uint8_t tag, struct mt_site *site) {
    uint8_t form = tag >> MT_TAG_SIZE_SHIFT & MT_TAG_SIZE;
    if (form == MT_SIZE_LAST)
        return site->size;
    if (form == MT_SIZE_OPERATION) {
        uint8_t operation = (uint8_t)take_byte(stream);
        struct mt_operation_info info = mt_operation_info(operation);
        int is_sized = is_allocation(operation) || operation == MT_OP_REALLOC_FAIL || info.has_size;
        uint64_t size = is_sized ? take_varint(stream) : 0;
        uint64_t alignment = info.has_alignment ? take_varint(stream) : 0;
        mt_learn_size(site, size);
        mt_learn_operation(site, operation, alignment);
        return size;
    }
    uint64_t size = form == MT_SIZE_OTHER ? site->other_size : take_varint(stream);
    mt_learn_size(site, size);
    return size;
}

static uint64_t take_distance(struct stream *stream, unsigned code, uint64_t base) {
    uint64_t distance = take_zigzag(stream);
    return base + (code == MT_ADDRESS_DISTANCE_16 ? distance << 4 : distance);
}

static void take_new_address(struct stream *stream, unsigned code, uint64_t size) {
    struct mt_predictor *predictor = &stream->predictor;
    uint64_t units = mt_block_units(size), address;
    uint32_t size_class = mt_size_class(units);
    if (code == MT_NEW_BEHIND)
        address = predictor->behind;
    else if (code == MT_NEW_KEPT) {
        address = predictor->freed_address;
        mt_learn_kept(predictor);
    } else if (code == MT_NEW_LAST_FREED || code == MT_NEW_FREED) {
        uint32_t depth = code == MT_NEW_FREED ? (uint32_t)take_byte(stream) : 0;
        depth &= MT_FREED_DEPTH - 1;
        address = mt_freed_address(predictor, size_class, depth);
        mt_learn_reuse(predictor, size_class, depth);
    } else
        address = take_distance(stream, code, predictor->allocated);
    mt_learn_allocation(predictor, address, units, size_class);
}

static void take_freed_address(struct stream *stream, unsigned code, struct mt_site *site) {
    struct mt_predictor *predictor = &stream->predictor;
    uint32_t slot;
    if (code == MT_FREED_NEWEST || code == MT_FREED_SECOND)
        slot = mt_block_slot(predictor, code);
    else if (code == MT_FREED_NEXT)
        slot = (predictor->freed_slot + 1) & (MT_NEWEST_BLOCKS - 1);
    else if (code == MT_FREED_PREVIOUS)
        slot = (predictor->freed_slot - 1) & (MT_NEWEST_BLOCKS - 1);
    else if (code == MT_FREED_AGE)
        slot = mt_block_slot(predictor, take_varint(stream));
    else {
        uint64_t address = take_distance(stream, code, predictor->freed_address);
        mt_learn_deallocation(predictor, site, address, MT_NEWEST_BLOCKS);
        return;
    }
    mt_learn_deallocation(predictor, site, mt_block_address(predictor, slot), slot);
}

static void take_control(struct stream *stream, uint8_t tag) {
    take_varint(stream);
    switch (tag >> MT_TAG_CONTROL_SHIFT) {
    case MT_CONTROL_FAILED:
        take_varint(stream);
        take_byte(stream);
        break;
    case MT_CONTROL_RESET:
        memset(&stream->predictor, 0, sizeof stream->predictor);
        break;
    }
}

static void take_event(struct stream *stream, uint8_t tag) {
    g_bytes[TAG]++;
    g_written[TAG]++;
    g_events++;
    const uint8_t *from = stream->at;
    if (tag & MT_TAG_TIME)
        take_varint(stream);
    account(stream, from, TIME);
    from = stream->at;
    if ((tag & MT_TAG_SITE) == MT_SITE_NONE) {
        take_control(stream, tag);
        account(stream, from, CONTROL);
        return;
    }
    struct mt_site *site = take_site(stream, tag);
    account(stream, from, SITE);
    from = stream->at;
    uint64_t size = take_operation(stream, tag, site);
    account(stream, from, OPERATION);
    from = stream->at;
    if (is_allocation(site->operation)) {
        take_new_address(stream, tag >> MT_TAG_ADDRESS_SHIFT, size);
        account(stream, from, NEW_ADDRESS);
    } else if (site->operation != MT_OP_REALLOC_FAIL) {
        take_freed_address(stream, tag >> MT_TAG_ADDRESS_SHIFT, site);
        account(stream, from, FREED_ADDRESS);
    }
}

static void take_chunk(const uint8_t *bytes, const struct mt_chunk_header *header) {
    g_chunks[header->kind <= MT_CHUNK_SNAPSHOT ? header->kind : 0] += header->length;
    if (header->kind != MT_CHUNK_EVENTS)
        return;
    if (header->encoding != MT_ENCODING_PREDICTED) {
        g_other_encodings++;
        return;
    }
    static struct stream stream;
    stream = (struct stream){.at = bytes + MT_CHUNK_HEADER_SIZE, .end = bytes + header->length};
    for (uint8_t tag; (tag = (uint8_t)take_byte(&stream)) != 0;)
        take_event(&stream, tag);
}

static void print_table(uint64_t file_bytes) {
    double events = g_events ? (double)g_events : 1;
    uint64_t used = 0;
    printf("| %llu events | bytes per event | written in |\n|---|---|---|\n",
           (unsigned long long)g_events);
    for (int i = 0; i < FIELDS; i++) {
        used += g_bytes[i];
        printf("| %s | %.3f | %.1f %% |\n", g_names[i], (double)g_bytes[i] / events,
               (double)g_written[i] / events * 100);
    }
    uint64_t chunks = g_chunks[MT_CHUNK_EVENTS];
    printf("| chunk headers, unused ends | %.3f | |\n", (double)(chunks - used) / events);
    printf("| stacks | %.3f | |\n", (double)g_chunks[MT_CHUNK_STACKS] / events);
    uint64_t snapshots = g_chunks[MT_CHUNK_SNAPSHOT], without = file_bytes - snapshots;
    printf("| the rest of the file | %.3f | |\n",
           (double)(without - chunks - g_chunks[MT_CHUNK_STACKS]) / events);
    printf("| **file, without heap snapshots** | %.3f | |\n", (double)without / events);
    if (snapshots)
        printf("| heap snapshots | %.3f | |\n", (double)snapshots / events);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return fprintf(stderr, "usage: field-bytes TRACE\n"), 64;
    struct stat status;
    int file = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0)
        return perror(argv[1]), 66;
    if (!S_ISREG(status.st_mode) || status.st_size < MT_FILE_HEADER_SIZE)
        return fprintf(stderr, "%s: is no trace\n", argv[1]), 65;
    size_t size = (size_t)status.st_size;
    const uint8_t *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        return perror(argv[1]), 74;
    for (size_t at = MT_FILE_HEADER_SIZE; at + MT_CHUNK_HEADER_SIZE <= size;) {
        struct mt_chunk_header header;
        memcpy(&header, bytes + at, sizeof header);
        int fits = header.magic == MT_CHUNK_MAGIC &&
                   header.header_check == mt_chunk_check(&header) &&
                   header.length >= MT_CHUNK_ALIGNMENT && header.length <= size - at;
        if (fits)
            take_chunk(bytes + at, &header);
        at += fits ? header.length : MT_CHUNK_ALIGNMENT;
    }
    if (g_other_encodings || !g_events)
        return fprintf(stderr,
                       g_other_encodings ? "%s: was packed; give the trace as it was recorded\n"
                                         : "%s: holds no events\n",
                       argv[1]),
               65;
    print_table(size);
    return 0;
}
