/* Stacks as ids: a tree of (caller, pc) nodes, found by hash.
 *
 *      root ── main ── parse ── malloc's caller        one node per frame, ids count up;
 *                   └─ print ── malloc's caller        a stack is the id of its leaf
 *
 * stack_index.h finds a stack by the hash of its path from the root, which is
 * mt_stack_hash(hash of the path to the caller, pc). Of what the stack cache (unwind.h) holds, it
 * has only whole stacks: the cache knows the ids of callers, as long as they run. So the index is
 * short, which counts more (docs/performance.md) than the callers that are written again when
 * another stack goes through them after they have returned. */
#ifndef MT_STACK_TABLE_H
#define MT_STACK_TABLE_H

#include "base/os.h"
#include "memtrace_format.h"
#include "stacks/stack_index.h"

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

/* Stands in a pc of such a list that a signal has interrupted: no call is in front of it. */
#define MT_STACK_EXACT_MARK (1ull << 62)

static inline uint64_t mt_stack_unmarked(uint64_t pc) {
    return pc & ~(MT_STACK_GAP_MARK | MT_STACK_EXACT_MARK);
}

/* Counts mt_stack_table_forget. */
extern MT_INTERNAL uint64_t mt_stack_epoch;

/* The hash of the empty path; another one after every mt_stack_table_forget, so that ids of
 * before are not found again. lacks_root: for stacks whose outermost frames are not known. */
static inline uint64_t mt_stack_root_hash(bool lacks_root) {
    uint64_t epoch = __atomic_load_n(&mt_stack_epoch, __ATOMIC_RELAXED);
    return mt_stack_hash(epoch * 2 + (lacks_root ? 1 : 0), 0x6d656d7472616365u);
}

/* A stack as a path. */
struct mt_stack_path {
    const uintptr_t *pcs;   /* [count] leaf first, with marks, and one gap at most (mt_stack_gap) */
    const uint64_t *hashes; /* [count] of the paths from the root to each pc */
    uint32_t count;         /* 1 ... MT_STACK_DEPTH_MAX + 1 */
    bool lacks_root;        /* what called the outermost frame is not known */
};

/* What the table was when something was found in it: other nodes may have come since; or a fork has
 * interrupted the hook, whose ids are of the parent's table. */
struct mt_stack_version {
    uint32_t resets;
    uint32_t next_id;
};
struct mt_stack_version mt_stack_table_version(void);

/* How far a path is known: to a node from which on all outer ones are. */
struct mt_stack_known {
    uint32_t id;      /* of that node; MT_STACK_NONE: no part of the path is known */
    uint32_t missing; /* frames from the leaf to it, without it; 0: the path has its id */
    struct mt_stack_version version; /* of the table before the search */
};

/* Searches for a path.
 * context  any thread; takes no lock */
struct mt_stack_known mt_stack_table_find(const struct mt_stack_path *path);

/* Makes the nodes that are missing. The index gets all of them.
 *
 * known    what mt_stack_table_find has found; others may have made nodes since
 * returns  the path's id; MT_STACK_NONE when it cannot be stored (counted)
 * context  any thread; errno untouched */
uint32_t mt_stack_table_add(const struct mt_stack_path *path, struct mt_stack_known known);

/* New frames of a stack: a branch of the tree. */
struct mt_stack_branch {
    uint32_t caller;      /* the id of what called the outermost of them; MT_STACK_NONE: nothing */
    uintptr_t caller_pc;  /* its pc, else 0 */
    const uintptr_t *pcs; /* [count] leaf first */
    uint32_t count;       /* 0 ... MT_STACK_DEPTH_MAX; 0: a caller becomes a stack itself */
    uint64_t hash;        /* of the whole path, from the root to the leaf */
    struct mt_stack_version version; /* of the table of caller, before the index was asked */
};

struct mt_stack_made {
    uint32_t id;    /* of the path; MT_STACK_NONE: it cannot be stored (counted) */
    uint32_t count; /* nodes: id, and below it those of its callers; 0: another thread made it */
};

/* Makes a node for each frame of a branch. The index gets the path.
 * context  any thread; errno untouched */
struct mt_stack_made mt_stack_table_add_branch(const struct mt_stack_branch *branch);

/* The id the next new node will get. */
uint32_t mt_stack_table_next_id(void);

/* Makes every known stack unknown: an image was unloaded, so its addresses may mean something
 * else from now on. */
void mt_stack_table_forget(void);

/* Ends a change of the calling thread that will not go on (stack_guard.h).
 * context  with signals held back */
void mt_stack_table_repair(void);

/* In a forked child in the middle of an intern or lookup of the parent: no more nodes until
 * mt_stack_table_reset but those of a change that the fork interrupted, which lead nowhere; no lock
 * of another thread's. */
void mt_stack_table_survive_fork(void);

/* Starts over in a forked child, with ids from MT_STACK_FIRST. Where the fork interrupted a change,
 * nothing is found until that is over, and nothing can be added.
 *
 * keeps_table  an interrupted hook may still read it */
void mt_stack_table_reset(bool keeps_table);

#endif
