/* REFCOUNTS chunks: what changed the strong counts of Swift objects.
 *
 * In chunks of their own, so that recordings without them cost nothing and readers of blocks need
 * not look at them (docs/refcounts.md). As in memtrace_predictor.h, the recorder writes, and the
 * reader reads, only where an event differs from what these tables expect: both keep the same
 * ones, which are empty at the start of each chunk. docs/trace-format.md, section 10.
 *
 *   tag      bits 0-1 site (enum mt_tag_site; 0: a control event, bits 3-7 its number),
 *            bit 2 MT_REFCOUNT_CALL_WRITTEN, bits 3-4 enum mt_refcount_object,
 *            bit 5 MT_REFCOUNT_COUNT_WRITTEN, bits 6-7 0
 *   fields   time [site] [call [amount]] [object] [count]
 *
 * Rules: every index is masked, so that no trace, however damaged, leads outside of a table. */
#ifndef MEMTRACE_REFCOUNTS_H
#define MEMTRACE_REFCOUNTS_H

#include "memtrace_format.h"
#include <stdint.h>

/* What was called. Those with an amount are followed by it. */
enum mt_refcount_call {
    MT_REFCOUNT_RETAIN = 1,
    MT_REFCOUNT_RELEASE = 2,
    MT_REFCOUNT_RETAIN_N = 3,      /* varint amount */
    MT_REFCOUNT_RELEASE_N = 4,     /* varint amount */
    MT_REFCOUNT_TRY_RETAIN = 5,    /* of an object that was not being taken down: it succeeded */
    MT_REFCOUNT_TRY_RETAIN_NOT = 6 /* it returned NULL */
};

#define MT_REFCOUNT_CALL_WRITTEN 0x04u
#define MT_REFCOUNT_OBJECT_SHIFT 3
#define MT_REFCOUNT_OBJECT 0x03u
#define MT_REFCOUNT_COUNT_WRITTEN 0x20u
#define MT_REFCOUNT_MAX_LENGTH 64u

enum mt_refcount_object {
    MT_OBJECT_LATEST = 0,  /* that of the event before */
    MT_OBJECT_OF_SITE = 1, /* that of the site's last event */
    MT_OBJECT_RECENT = 2,  /* byte: its index among the recent ones */
    MT_OBJECT_DISTANCE = 3 /* zigzag in units of 8 bytes from that of the event before */
};

/* In place of a count: what lies there is no object. Its memory was freed and is another's now, or
 * nobody's. */
#define MT_REFCOUNT_NO_OBJECT 0xffffffffffffffffu

enum {
    MT_REFCOUNT_SITE_BITS = 11,
    MT_REFCOUNT_PAIR_BITS = 12,
    MT_REFCOUNT_RECENT_STACKS = 256,
    MT_REFCOUNT_OBJECTS = 256
};

/* What the last event with a stack was. */
struct mt_refcount_site {
    uint32_t successor; /* the stack of the event that followed */
    uint32_t amount;
    uint64_t object;
    uint8_t call; /* enum mt_refcount_call; 0: never seen */
    uint8_t unused[7];
};

struct mt_refcount_known {
    uint64_t object;
    uint64_t count; /* expected before the next event */
};

/* A zeroed one is an empty one. */
struct mt_refcount_predictor {
    uint32_t latest; /* stack */
    uint32_t latest_hash;
    uint32_t pair_hash;
    uint32_t highest; /* the stack last written in full */
    uint64_t object;  /* of the last event */
    struct mt_refcount_site sites[1 << MT_REFCOUNT_SITE_BITS];
    uint32_t pairs[1 << MT_REFCOUNT_PAIR_BITS];
    uint32_t recent[MT_REFCOUNT_RECENT_STACKS];
    struct mt_refcount_known objects[MT_REFCOUNT_OBJECTS];
};

static inline int mt_refcount_has_amount(uint8_t call) {
    return call == MT_REFCOUNT_RETAIN_N || call == MT_REFCOUNT_RELEASE_N;
}

/* What a call does to the count, for each of its amount. */
static inline int mt_refcount_sign(uint8_t call) {
    switch (call) {
    case MT_REFCOUNT_RETAIN:
    case MT_REFCOUNT_RETAIN_N:
    case MT_REFCOUNT_TRY_RETAIN:
        return 1;
    case MT_REFCOUNT_RELEASE:
    case MT_REFCOUNT_RELEASE_N:
        return -1;
    default:
        return 0;
    }
}

static inline uint32_t mt_refcount_hash(uint32_t stack) {
    return stack * 2654435761u;
}

static inline uint32_t mt_refcount_after_pair(const struct mt_refcount_predictor *predictor) {
    return predictor->pairs[predictor->pair_hash >> (32 - MT_REFCOUNT_PAIR_BITS)];
}

static inline uint32_t mt_refcount_after_one(const struct mt_refcount_predictor *predictor) {
    return predictor->sites[predictor->latest_hash >> (32 - MT_REFCOUNT_SITE_BITS)].successor;
}

/* Where a stack is in the table of recent ones: 1 ... 255. */
static inline uint32_t mt_refcount_recent_index(uint32_t stack) {
    uint32_t index = mt_refcount_hash(stack) >> 24;
    return index ? index : 1;
}

/* After a stack that was written in full. */
static inline void mt_refcount_learn_full(struct mt_refcount_predictor *predictor, uint32_t stack) {
    predictor->recent[mt_refcount_recent_index(stack)] = stack;
    predictor->highest = stack;
}

/* After the stack of every event: returns what its last event was. */
static inline struct mt_refcount_site *
mt_refcount_learn_stack(struct mt_refcount_predictor *predictor, uint32_t stack) {
    uint32_t hash = mt_refcount_hash(stack);
    predictor->pairs[predictor->pair_hash >> (32 - MT_REFCOUNT_PAIR_BITS)] = stack;
    predictor->sites[predictor->latest_hash >> (32 - MT_REFCOUNT_SITE_BITS)].successor = stack;
    predictor->pair_hash = hash ^ (predictor->latest * 2246822519u);
    predictor->latest_hash = hash;
    predictor->latest = stack;
    return &predictor->sites[hash >> (32 - MT_REFCOUNT_SITE_BITS)];
}

static inline uint32_t mt_refcount_object_index(uint64_t object) {
    return (uint32_t)((object >> 4) * 0x9e3779b97f4a7c15u >> 56);
}

static inline uint64_t mt_refcount_recent_object(const struct mt_refcount_predictor *predictor,
                                                 uint32_t index) {
    return predictor->objects[index & (MT_REFCOUNT_OBJECTS - 1)].object;
}

/* The count that an object is expected to say: what its last event left, 1 where none is known. */
static inline uint64_t mt_refcount_expected(const struct mt_refcount_predictor *predictor,
                                            uint64_t object) {
    const struct mt_refcount_known *known = &predictor->objects[mt_refcount_object_index(object)];
    return known->object == object ? known->count : 1;
}

/* After every event. count: before it */
static inline void mt_refcount_learn(struct mt_refcount_predictor *predictor,
                                     struct mt_refcount_site *site, uint8_t call, uint32_t amount,
                                     uint64_t object, uint64_t count) {
    site->call = call;
    site->amount = amount;
    site->object = object;
    predictor->object = object;
    struct mt_refcount_known *known = &predictor->objects[mt_refcount_object_index(object)];
    known->object = object;
    known->count = count + (uint64_t)(int64_t)mt_refcount_sign(call) * amount;
}

#endif
