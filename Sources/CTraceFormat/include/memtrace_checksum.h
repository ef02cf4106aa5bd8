/* The checksum of a stretch of a chunk: what the recorder writes and a reader compares.
 *
 * Four lanes, each of every fourth word, which a processor works on at the same time: a chunk that
 * is in a cache costs less than a thousandth of what it took to fill it. A change within one word
 * is always noticed, others but for one in 2^64. */
#ifndef MEMTRACE_CHECKSUM_H
#define MEMTRACE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define MT_CHECKSUM_STEP 32u /* bytes that are taken at once */
#define MT_CHECKSUM_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* A checksum that is being made. */
struct mt_checksum {
    uint64_t lanes[4];
    uint64_t length; /* bytes taken */
};

static inline uint64_t mt_checksum_mix(uint64_t lane, uint64_t word) {
    uint64_t product = (lane ^ word) * MT_CHECKSUM_FACTOR;
    return product << 29 | product >> 35;
}

/* Begins.
 *
 * sequence   of the chunk
 * last_time  that the chunk's header has; 0: none yet */
static inline struct mt_checksum mt_checksum_begin(uint64_t sequence, uint64_t last_time) {
    struct mt_checksum sum = {{sequence, last_time, ~sequence, ~last_time}, 0};
    return sum;
}

static inline void mt_checksum_step(struct mt_checksum *sum, const uint8_t *bytes) {
    uint64_t words[4];
    __builtin_memcpy(words, bytes, MT_CHECKSUM_STEP);
    for (int i = 0; i < 4; i++)
        sum->lanes[i] = mt_checksum_mix(sum->lanes[i], words[i]);
}

/* Takes bytes that follow those taken before.
 *
 * length  a multiple of MT_CHECKSUM_STEP but for the last bytes, which zeros are thought to follow
 */
static inline void mt_checksum_add(struct mt_checksum *sum, const void *bytes, size_t length) {
    const uint8_t *at = (const uint8_t *)bytes;
    sum->length += length;
    for (; length >= MT_CHECKSUM_STEP; at += MT_CHECKSUM_STEP, length -= MT_CHECKSUM_STEP)
        mt_checksum_step(sum, at);
    if (length) {
        uint8_t rest[MT_CHECKSUM_STEP] = {0};
        __builtin_memcpy(rest, at, length);
        mt_checksum_step(sum, rest);
    }
}

/* returns  the checksum, never 0 */
static inline uint64_t mt_checksum_end(const struct mt_checksum *sum) {
    uint64_t all = sum->length;
    for (int i = 0; i < 4; i++)
        all = mt_checksum_mix(all, sum->lanes[i]);
    return all ? all : 1;
}

/* The checksum of bytes that are all there. */
static inline uint64_t mt_checksum_of(uint64_t sequence, uint64_t last_time, const void *bytes,
                                      size_t length) {
    struct mt_checksum sum = mt_checksum_begin(sequence, last_time);
    mt_checksum_add(&sum, bytes, length);
    return mt_checksum_end(&sum);
}

#endif
