/* Of which types retains and releases are recorded. */
#ifndef MT_REFCOUNT_TYPES_H
#define MT_REFCOUNT_TYPES_H

#include "loader/image_map.h"

enum { MT_VERDICT_BITS = 12 };

/* Metadata that was judged, with bit 0 set if its objects are wanted. Direct-mapped. */
extern uintptr_t mt_refcount_verdicts[1 << MT_VERDICT_BITS];
extern uint64_t mt_refcount_verdict_images; /* mt_image_map_generation of the verdicts */
enum mt_refcount_verdict {
    MT_VERDICT_NO,
    MT_VERDICT_YES,
    MT_VERDICT_UNKNOWN,  /* mt_refcount_judge has to be asked */
    MT_VERDICT_NO_OBJECT /* only from there: its first word is certainly no metadata */
};

/* patterns  as in MEMTRACE_REFCOUNTS, kept by the caller */
void mt_refcount_types_begin(const char *patterns);

static inline uintptr_t *mt_refcount_verdict_place(uintptr_t metadata) {
    uint64_t hash = (metadata >> 3) * 0x9e3779b97f4a7c15u;
    return &mt_refcount_verdicts[hash >> (64 - MT_VERDICT_BITS)];
}

/* What is known of the objects with this first word. */
static inline enum mt_refcount_verdict mt_refcount_verdict(uintptr_t metadata) {
    uintptr_t known = __atomic_load_n(mt_refcount_verdict_place(metadata), __ATOMIC_RELAXED);
    uint64_t images = __atomic_load_n(&mt_image_map_generation, __ATOMIC_RELAXED);
    if (mt_unlikely((known & ~(uintptr_t)1) != metadata || mt_refcount_verdict_images != images))
        return MT_VERDICT_UNKNOWN;
    return known & 1 ? MT_VERDICT_YES : MT_VERDICT_NO;
}

/* Finds the verdict and keeps it. MT_VERDICT_NO_OBJECT is wanted whatever the patterns are.
 * context  inside a hook that records */
enum mt_refcount_verdict mt_refcount_judge(uintptr_t object);

/* True when one of the patterns, separated by commas, fits a name: the whole of it, without its
 * generic arguments, or either without the module. `*` is any text, `?` any one character; the case
 * of letters is the same. */
bool mt_refcount_pattern_fits(const char *patterns, const char *name);

#endif
