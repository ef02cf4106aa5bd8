/* What a thread knows of its stacks, and the options: what the layers of unwind.h share. */
#ifndef MT_UNWINDER_H
#define MT_UNWINDER_H

#include "base/growing_mask.h"
#include "base/os.h"
#include "memtrace_format.h"
#include "stacks/recent_stacks.h"
#include "stacks/stack_table.h"
#include "unwind/frame.h"

struct mt_cached_frame {
    struct mt_frame frame; /* fp: valid where it matters */
    uintptr_t fp_slot;     /* where frame.fp was read from; 0: it was its callee's */
    uint64_t hash;         /* of the path from the root to here */
    uint16_t use;          /* enum mt_frame_use */
    uint16_t first_check;  /* where its own begin, behind its callers', from mt_checks() on */
    uint32_t id;           /* of that path; MT_STACK_NONE: not known here, though it may have one */
};

/* A word of the stack that a cached frame was read from. */
struct mt_check {
    uintptr_t address, value;
};

/* A cached frame of a stack that is not shown whole: unwind_window.h. */
struct mt_window_frame {
    uint64_t path; /* the frame's hash, of which `prefix` is; else it says nothing */
    uint64_t prefix;
};

/* What is kept of a stack: a list of pcs, leaf first, as struct mt_stack_path has. */
struct mt_kept_frames {
    const uintptr_t *pcs;
    uint32_t count;  /* with the gap */
    bool lacks_root; /* nobody knows what called the outermost frame */
};

struct mt_address_range {
    uintptr_t low, high;
};

/* Where a goroutine waits for C code: unwind_goroutine.h. */
struct mt_goroutine {
    struct mt_frame frame; /* the caller of the assembly that has left its stack */
    uintptr_t stack_end;   /* of the goroutine's */
};

enum {
    MT_OUTERMOST = 16, /* frames kept at the root of a stack that is too deep, at most */
    /* Frames in the cache: the outermost ones and as many of the innermost as fit. A full cache
     * drops the oldest of the latter, so that it keeps more than any stack shows. */
    MT_CACHE_FRAMES = 2 * MT_STACK_DEPTH_MAX + MT_OUTERMOST,
    MT_CACHE_KEEPS = 3 * MT_STACK_DEPTH_MAX / 2,
    /* New frames of a walk: the innermost ones, then the last ones met. */
    MT_FRESH_INNER = MT_CACHE_KEEPS,
    MT_FRESH_RING = 2 * MT_OUTERMOST,
    MT_CHECK_GROUP = 4,            /* looked at at a time: as many that always hold come first */
    MT_LIBUNWIND_FRAMES = 1 << 14, /* the deepest stack that libunwind is asked for */
};

enum {
    MT_MEMO_SET_BITS = 8,
    MT_MEMO_SETS = 1 << MT_MEMO_SET_BITS,
    MT_MEMO_SETS_FIRST = 32, /* of a thread that has met few stacks: less than a page */
    MT_MEMO_SETS_SHARE = 1,
    MT_MEMO_WAYS = 2, /* a power of two */
    MT_MEMOS = MT_MEMO_SETS * MT_MEMO_WAYS,
    MT_MEMO_WORDS = 96
};

/* A stack and what it depends on: unwind_memo.h. */
struct mt_memo {
    uintptr_t pc, sp, fp; /* its leaf */
    uint32_t id;          /* MT_STACK_NONE: there is none */
    uint16_t epoch;       /* of mt_memos when it was made: else it is void */
    uint8_t count;        /* of words */
    uint8_t fp_matters;
    uint16_t words; /* where they are, from 1 on; 0: nowhere yet */
};

/* The words of the stack that a walk has read, and how far above MT_MEMO_BASE (unwind_memo.h) they
 * lie. Leaf first. */
struct mt_memo_words {
    uint64_t values[MT_MEMO_WORDS];
    uint16_t distances[MT_MEMO_WORDS];
};

/* The memos of a set lie together, apart from their words, which only a memo that may be the
 * right one is asked for. Room for words is taken in turn, so that few memos have few pages. */
struct mt_memos {
    uint64_t asked_in;           /* mt_image_map_generation in which memos are asked; 0: in none */
    struct mt_growing_mask used; /* of the sets */
    uint16_t epoch;
    uint32_t turn;        /* which of a set is replaced next */
    uint32_t hits, walks; /* stacks that had a memo, and that had none, in this term */
    uint32_t rest;        /* for so many terms memos are neither asked nor written */
    struct mt_memo sets[MT_MEMO_SETS][MT_MEMO_WAYS];
    uint32_t taken;                           /* of words */
    struct mt_memo_words words[1 + MT_MEMOS]; /* the first one is nobody's */
};

/* Per thread, in memory of the recorder, touched as far as it is used. Zero-initialised is
 * valid. */
struct mt_unwinder {
    struct mt_address_range own_stack;   /* of the thread: stack_bounds.h */
    struct mt_address_range other_stack; /* the one it was last met on: a fiber's, a handler's */
    struct mt_goroutine goroutine;       /* on which the stack last walked goes on, if it does */
    uint32_t cached;                     /* frames in cache */
    uintptr_t stack_end;   /* mt_tls.stack_end while what a fault interrupted is walked */
    bool is_ordinary;      /* the cached stack may be walked shortly: unwind_short_walk.h */
    uint32_t checked;      /* frames out of sight are checked in turn: where to go on */
    uint32_t table_resets; /* mt_stack_version of the ids of cached frames */
    uint64_t dropped;      /* frames that are missing above the first MT_OUTERMOST of the cache */
    uint64_t root_hash;    /* mt_stack_root_hash(false) of the cached frames */
    uint64_t generation;   /* mt_image_map_generation of the cached frames */
    struct mt_recent_stacks recent;
    struct mt_memos memos;
    uint64_t hashes[MT_STACK_DEPTH_MAX + 1];       /* scratch, leaf first */
    struct mt_cached_frame cache[MT_CACHE_FRAMES]; /* root first */
    /* Of the cached frames, in their order: one for each, two, or three. */
    struct mt_check checks[MT_CHECK_GROUP + 3 * MT_CACHE_FRAMES];
    struct mt_cached_frame fresh[MT_FRESH_INNER + MT_FRESH_RING]; /* scratch: unwind_walk.h */
    struct mt_window_frame windows[MT_CACHE_FRAMES];              /* of cached frames, as needed */
    uintptr_t pcs[MT_LIBUNWIND_FRAMES];                           /* scratch, leaf first */
};

static inline struct mt_check *mt_checks(struct mt_unwinder *unwinder) {
    return &unwinder->checks[MT_CHECK_GROUP];
}

/* Options: set before recording starts. */
extern MT_INTERNAL uint32_t mt_unwind_depth;
extern MT_INTERNAL bool mt_unwind_only_libunwind;
extern MT_INTERNAL bool mt_unwind_compares; /* walk every stack both ways: unwind_compare.h */

/* How many of the frames that are kept of a stack deeper than mt_unwind_depth are its outermost;
 * the others are its innermost. */
static inline uint32_t mt_unwind_outermost(void) {
    return mt_unwind_depth / 2 < MT_OUTERMOST ? mt_unwind_depth / 2 : MT_OUTERMOST;
}

#endif
