/* What an event of MT_ENCODING_PREDICTED is expected to be.
 *
 * The recorder writes, and the reader reads, only where an event differs from what these tables
 * expect. Both must see the same tables at the same event, so both use this one header. The tables
 * start empty with every chunk and change only by the mt_learn_... functions, once per event. Which
 * prediction is written how is in docs/trace-format.md, section 7; why these tables, with figures,
 * in docs/performance.md.
 *
 * Rules: every index is masked, so that no trace, however damaged, leads outside of a table. */
#ifndef MEMTRACE_PREDICTOR_H
#define MEMTRACE_PREDICTOR_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    MT_SITE_BITS = 11,
    MT_PAIR_BITS = 13,
    MT_SITES = 1 << MT_SITE_BITS,
    MT_PAIRS = 1 << MT_PAIR_BITS,
    MT_RECENT_SITES = 256,
    MT_NEAR_SITE = 224, /* a written index from here on: a site just above the highest */
    MT_SIZE_CLASSES = 128,
    MT_FREED_DEPTH = 16,
    MT_NEWEST_BLOCKS = 1024
};

/* Where an event comes from: a stack ID * 2; plus 1 for the second half of a realloc, which has
 * other successors and sizes than the first. */
typedef uint32_t mt_site_name;

/* What the last events of a site were. */
struct mt_site {
    mt_site_name successor; /* the site of the event that followed */
    uint32_t size;          /* the last size, its low 32 bits */
    uint32_t other_size;    /* the one before that was another */
    uint8_t operation;      /* enum mt_operation; 0: never seen */
    uint8_t size_class;     /* of the last block freed here */
    uint8_t alignment_log2; /* 0: none, or no power of two */
    uint8_t unused;
};

/* A zeroed one is an empty one. */
struct mt_predictor {
    /* The two latest sites. */
    mt_site_name latest;
    uint32_t latest_hash;
    uint32_t pair_hash;
    /* The address of the last block allocated, the one expected behind it, and the last freed. */
    uint64_t allocated;
    uint64_t behind;
    uint64_t freed_address;
    mt_site_name highest; /* the site last written in full */
    uint32_t newest;      /* slot of the last block allocated */
    uint32_t freed_slot;  /* slot of the last block freed that had one */
    uint32_t freed_class; /* class that the last block freed went to */
    uint8_t freed_top[MT_SIZE_CLASSES];
    struct mt_site sites[MT_SITES];
    mt_site_name pairs[MT_PAIRS]; /* the site that followed the two latest */
    mt_site_name recent[MT_RECENT_SITES];
    uint64_t freed[MT_SIZE_CLASSES][MT_FREED_DEPTH]; /* rings of freed addresses, last on top */
    uint64_t blocks[MT_NEWEST_BLOCKS];               /* a ring: address | class << 56 */
};

#define MT_BLOCK_ADDRESS 0x00ffffffffffffffu /* the other bits are the class */

/* ---- Sites ---- */

static inline uint32_t mt_site_hash(mt_site_name site) {
    return site * 2654435761u;
}

/* The site after the two latest; 0: none known. */
static inline mt_site_name mt_site_after_pair(const struct mt_predictor *predictor) {
    return predictor->pairs[predictor->pair_hash >> (32 - MT_PAIR_BITS)];
}

/* The site after the latest one; 0: none known. */
static inline mt_site_name mt_site_after_one(const struct mt_predictor *predictor) {
    return predictor->sites[predictor->latest_hash >> (32 - MT_SITE_BITS)].successor;
}

/* Where `site` is in the table of recent ones: 1 ..< MT_NEAR_SITE. */
static inline uint32_t mt_recent_index(mt_site_name site) {
    uint32_t index = mt_site_hash(site) >> 24;
    return index > 0 && index < MT_NEAR_SITE ? index : (index & 127) | 1;
}

/* A new stack is often that of the node made last: its site is 2, 4 ... 64 above the highest.
 * index: MT_NEAR_SITE ... 255 */
static inline mt_site_name mt_near_site(const struct mt_predictor *predictor, uint32_t index) {
    return predictor->highest + 2 * (index - MT_NEAR_SITE + 1);
}

static inline mt_site_name mt_recent_site(const struct mt_predictor *predictor, uint32_t index) {
    return predictor->recent[index & (MT_RECENT_SITES - 1)];
}

/* After a site that had to be written in full, or was near. */
static inline void mt_learn_full_site(struct mt_predictor *predictor, mt_site_name site) {
    predictor->recent[mt_recent_index(site)] = site;
    predictor->highest = site;
}

/* After the site of every event: returns what its last events were. */
static inline struct mt_site *mt_learn_site(struct mt_predictor *predictor, mt_site_name site) {
    uint32_t hash = mt_site_hash(site);
    predictor->pairs[predictor->pair_hash >> (32 - MT_PAIR_BITS)] = site;
    predictor->sites[predictor->latest_hash >> (32 - MT_SITE_BITS)].successor = site;
    predictor->pair_hash = hash ^ (predictor->latest * 2246822519u);
    predictor->latest_hash = hash;
    predictor->latest = site;
    return &predictor->sites[hash >> (32 - MT_SITE_BITS)];
}

/* What the last events of the latest site were. */
static inline const struct mt_site *mt_latest_site(const struct mt_predictor *predictor) {
    return &predictor->sites[predictor->latest_hash >> (32 - MT_SITE_BITS)];
}

/* After an event whose size was not the last one of its site. */
static inline void mt_learn_size(struct mt_site *site, uint64_t size) {
    site->other_size = site->size;
    site->size = (uint32_t)size;
}

/* After an event whose operation was written. */
static inline void mt_learn_operation(struct mt_site *site, uint8_t operation, uint64_t alignment) {
    site->operation = operation;
    bool is_power = alignment && !(alignment & (alignment - 1));
    site->alignment_log2 = is_power ? (uint8_t)__builtin_ctzll(alignment) : 0;
}

static inline uint64_t mt_site_alignment(const struct mt_site *site) {
    return site->alignment_log2 ? (uint64_t)1 << (site->alignment_log2 & 63) : 0;
}

/* ---- Addresses ---- */

/* Units of 16 bytes of a block: how glibc rounds, whose lists these tables follow
 * (https://sourceware.org/glibc/wiki/MallocInternals). */
static inline uint64_t mt_block_units(uint64_t size) {
    uint64_t units = (size >> 4) + ((size & 15) > 8 ? 2 : 1);
    return units < 2 ? 2 : units;
}

/* Blocks of one class are taken to be handed out again for each other: 0 ..< MT_SIZE_CLASSES. */
static inline uint32_t mt_size_class(uint64_t units) {
    if (units < 66)
        return (uint32_t)units - 2;
    uint32_t log2 = 63u - (uint32_t)__builtin_clzll(units);
    return 64 + (((log2 - 6) * 8 + (uint32_t)(units >> (log2 - 3) & 7)) & 63);
}

/* The address freed `depth` frees ago in a class; 0 is the last one. */
static inline uint64_t mt_freed_address(const struct mt_predictor *predictor, uint32_t size_class,
                                        uint32_t depth) {
    uint32_t place = predictor->freed_top[size_class & (MT_SIZE_CLASSES - 1)] - depth;
    return predictor->freed[size_class & (MT_SIZE_CLASSES - 1)][place & (MT_FREED_DEPTH - 1)];
}

/* Takes the address at `depth` off the ring: it is in use again. */
static inline void mt_learn_reuse(struct mt_predictor *predictor, uint32_t size_class,
                                  uint32_t depth) {
    uint64_t *ring = predictor->freed[size_class & (MT_SIZE_CLASSES - 1)];
    uint8_t *top = &predictor->freed_top[size_class & (MT_SIZE_CLASSES - 1)];
    for (; depth > 0; depth--)
        ring[(*top - depth) & (MT_FREED_DEPTH - 1)] =
            ring[(*top - depth + 1) & (MT_FREED_DEPTH - 1)];
    ring[*top & (MT_FREED_DEPTH - 1)] = 0;
    --*top;
}

/* Takes the address freed last off its ring: a realloc has kept it. */
static inline void mt_learn_kept(struct mt_predictor *predictor) {
    if (mt_freed_address(predictor, predictor->freed_class, 0) == predictor->freed_address)
        mt_learn_reuse(predictor, predictor->freed_class, 0);
}

/* After the address of every allocation. */
static inline void mt_learn_allocation(struct mt_predictor *predictor, uint64_t address,
                                       uint64_t units, uint32_t size_class) {
    predictor->allocated = address;
    predictor->behind = address + units * 16;
    predictor->newest = (predictor->newest + 1) & (MT_NEWEST_BLOCKS - 1);
    predictor->blocks[predictor->newest] = address | (uint64_t)size_class << 56;
}

/* The slot of the block allocated `age` allocations ago. */
static inline uint32_t mt_block_slot(const struct mt_predictor *predictor, uint64_t age) {
    return (predictor->newest - (uint32_t)age) & (MT_NEWEST_BLOCKS - 1);
}

/* The address of the block in a slot. */
static inline uint64_t mt_block_address(const struct mt_predictor *predictor, uint32_t slot) {
    return predictor->blocks[slot & (MT_NEWEST_BLOCKS - 1)] & MT_BLOCK_ADDRESS;
}

/* After the address of every deallocation (and first half of a realloc).
 * slot  of the block, MT_NEWEST_BLOCKS when it had none: then its class is guessed by the site */
static inline void mt_learn_deallocation(struct mt_predictor *predictor, struct mt_site *site,
                                         uint64_t address, uint32_t slot) {
    predictor->freed_address = address;
    uint32_t size_class = site->size_class;
    if (slot < MT_NEWEST_BLOCKS) {
        predictor->freed_slot = slot;
        size_class = (uint32_t)(predictor->blocks[slot] >> 56) & (MT_SIZE_CLASSES - 1);
        site->size_class = (uint8_t)size_class;
    }
    predictor->freed_class = size_class;
    uint8_t top = ++predictor->freed_top[size_class & (MT_SIZE_CLASSES - 1)];
    predictor->freed[size_class & (MT_SIZE_CLASSES - 1)][top & (MT_FREED_DEPTH - 1)] = address;
}

#endif
