/* Of which types retains and releases are recorded. */
#ifndef MT_REFCOUNT_TYPES_H
#define MT_REFCOUNT_TYPES_H

#include "image_map.h"

enum { MT_VERDICT_BITS = 12 };

/* Metadata that was judged, with bit 0 set if its objects are wanted. Direct-mapped. */
extern uintptr_t mt_refcount_verdicts[1 << MT_VERDICT_BITS];
extern uint64_t mt_refcount_verdict_images; /* mt_image_map_generation of the verdicts */
extern bool mt_refcount_takes_all;

enum mt_refcount_verdict { MT_VERDICT_NO, MT_VERDICT_YES, MT_VERDICT_UNKNOWN };

/* patterns  as in MEMTRACE_REFCOUNTS, kept by the caller */
void mt_refcount_types_begin(const char *patterns);

static inline uintptr_t *mt_refcount_verdict_place(uintptr_t metadata) {
    uint64_t hash = (metadata >> 3) * 0x9e3779b97f4a7c15u;
    return &mt_refcount_verdicts[hash >> (64 - MT_VERDICT_BITS)];
}

/* What is known of the objects with this first word. */
static inline enum mt_refcount_verdict mt_refcount_verdict(uintptr_t metadata) {
    if (mt_refcount_takes_all)
        return MT_VERDICT_YES;
    uintptr_t known = __atomic_load_n(mt_refcount_verdict_place(metadata), __ATOMIC_RELAXED);
    uint64_t images = __atomic_load_n(&mt_image_map_generation, __ATOMIC_RELAXED);
    if (mt_unlikely((known & ~(uintptr_t)1) != metadata || mt_refcount_verdict_images != images))
        return MT_VERDICT_UNKNOWN;
    return known & 1 ? MT_VERDICT_YES : MT_VERDICT_NO;
}

/* Finds the verdict and keeps it. A word that is no type's is wanted: it may be what a freed object
 * has left, or metadata that cannot be read.
 * context  inside a hook that records */
bool mt_refcount_judge(uintptr_t object);

/* True when one of the patterns, separated by commas, fits a name: the whole of it, without its
 * generic arguments, or either without the module. `*` is any text, `?` any one character; the case
 * of letters is the same. */
bool mt_refcount_pattern_fits(const char *patterns, const char *name);

#endif
