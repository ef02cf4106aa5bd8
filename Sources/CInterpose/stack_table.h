/* Stacks as ids: a tree of (caller, pc) nodes, found by hash and written once.
 *
 *      root ── main ── parse ── malloc's caller        one node per frame, ids count up;
 *                   └─ print ── malloc's caller        a stack is the id of its leaf
 *
 * stack_index.h finds a node by the hash of its path from the root, which is
 * mt_stack_hash(hash of the path to the caller, pc). */
#ifndef MT_STACK_TABLE_H
#define MT_STACK_TABLE_H

#include "memtrace_format.h"
#include "os.h"
#include "stack_index.h"

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
