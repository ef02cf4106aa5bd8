/* Stacks as ids: a tree of (caller, pc) nodes, found by hash and written once.
 *
 *      root ── main ── parse ── malloc's caller        one node per frame, ids count up;
 *                   └─ print ── malloc's caller        a stack is the id of its leaf
 *
 * The table maps the hash of a path from the root to the id of its last node. The hash of a path
 * is mt_stack_hash(hash of the path to the caller, pc), 64 bits wide, and taken as proof: with a
 * million nodes the chance that any two paths collide is 3 in 10^8.
 *
 * Lookups take no lock. A slot is published by storing its hash last (release), which pairs with
 * the acquire load in the lookup; a table that was outgrown stays readable for ever. */
#ifndef MT_STACK_TABLE_H
#define MT_STACK_TABLE_H

#include "memtrace_format.h"
#include "os.h"

#define MT_STACK_DEPTH_MAX 1024

/* Extends the hash of a path by one frame. Never 0. */
static inline uint64_t mt_stack_hash(uint64_t hash, uint64_t pc) {
    uint64_t mixed = (hash ^ pc) * 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 29;
    return mixed | 1;
}

/* Stands in a list of pcs for `omitted` frames that were left out there, with an address that no
 * program has. The number is rounded down to a power of two: recursions of 5000 and of 5001 frames
 * are one stack, and a long one makes few nodes. */
#define MT_STACK_GAP_MARK (1ull << 63)

static inline uint64_t mt_stack_gap(uint64_t omitted) {
    return MT_STACK_GAP_MARK | 1ull << (63 - __builtin_clzll(omitted | 1));
}

/* Counts mt_stack_table_forget. */
extern uint64_t mt_stack_epoch;

/* The hash of the empty path; another one after every mt_stack_table_forget, so that ids of
 * before are not found again. lacks_root: for stacks whose outermost frames are not known. */
static inline uint64_t mt_stack_root_hash(bool lacks_root) {
    uint64_t epoch = __atomic_load_n(&mt_stack_epoch, __ATOMIC_RELAXED);
    return mt_stack_hash(epoch * 2 + (lacks_root ? 1 : 0), 0x6d656d7472616365u);
}

/* Id of the path with this hash, or MT_STACK_NONE when it is not known. Lock-free. */
static inline uint32_t mt_stack_table_find(uint64_t hash);

/* Open addressing. Replaced by a larger one, never unmapped: a reader may still look at it, and
 * then finds zeros, that is nothing. ids[i] belongs to hashes[i] and stands behind all hashes. */
struct mt_stack_slots {
    uint64_t capacity; /* a power of two */
    uint64_t hashes[]; /* 0: free */
};
extern struct mt_stack_slots *mt_stack_slots;

static inline uint32_t *mt_stack_slot_ids(struct mt_stack_slots *table) {
    return (uint32_t *)(table->hashes + table->capacity);
}

/* The slot that holds the hash, or the free one where it belongs. */
static inline uint64_t mt_stack_slot_of(const struct mt_stack_slots *table, uint64_t hash) {
    uint64_t mask = table->capacity - 1;
    for (uint64_t i = hash >> 1;; i++) {
        uint64_t found = __atomic_load_n(&table->hashes[i & mask], __ATOMIC_ACQUIRE);
        if (mt_likely(found == hash) || found == 0)
            return i & mask;
    }
}

static inline uint32_t mt_stack_table_find(uint64_t hash) {
    struct mt_stack_slots *table = __atomic_load_n(&mt_stack_slots, __ATOMIC_ACQUIRE);
    if (mt_unlikely(!table))
        return MT_STACK_NONE;
    uint64_t slot = mt_stack_slot_of(table, hash);
    uint32_t id = mt_stack_slot_ids(table)[slot];
    /* It may have been filled, or emptied with its table, since it was probed. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return mt_likely(__atomic_load_n(&table->hashes[slot], __ATOMIC_ACQUIRE) == hash)
               ? id
               : MT_STACK_NONE;
}

/* Id of a stack, made where it is new.
 *
 * pcs, hashes  [count] leaf first, pcs may hold one gap (mt_stack_gap); hashes[i] is the hash of
 *              the path from the root to pcs[i]
 * count        1 ... MT_STACK_DEPTH_MAX + 1
 * lacks_root   what called the outermost frame is not known
 * returns      the id; MT_STACK_NONE when it cannot be stored (counted)
 * context      any thread; errno untouched */
uint32_t mt_stack_table_intern(const uintptr_t *pcs, const uint64_t *hashes, uint32_t count,
                               bool lacks_root);

/* The id the next new node will get. */
uint32_t mt_stack_table_next_id(void);

/* Makes every known stack unknown: an image was unloaded, so its addresses may mean something
 * else from now on. */
void mt_stack_table_forget(void);

/* In a forked child in the middle of an intern or lookup of the parent: no more nodes until
 * mt_stack_table_reset, no lock of another thread's. */
void mt_stack_table_survive_fork(void);

/* Starts over in a forked child, with ids from MT_STACK_FIRST.
 *
 * keeps_table  an interrupted hook may still read it */
void mt_stack_table_reset(bool keeps_table);

#endif
