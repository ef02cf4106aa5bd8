/* Recent stacks of a thread, whole, to be known again without a walk.
 *
 * A walk by rules and cache (unwind_walk.h) takes some 200 instructions and more for each new
 * frame. But a program allocates at the same places again: same caller, same stack pointer, and
 * every word that the walk read still there. A memo holds those words. Where all of them are the
 * same, the stack is: a walk depends on nothing else, but on the images that are loaded, whose
 * change empties the memos. Only the thread's own stack has memos: another one may be gone, and its
 * words with it. */
#ifndef MT_UNWIND_MEMO_H
#define MT_UNWIND_MEMO_H

#include "unwind/unwind_rules.h"
#include "unwind/unwinder.h"

/* What the distances of a memo's words are counted from, in words. */
#define MT_MEMO_BASE(sp) ((sp)-16) /* the hook pushed the leaf's frame pointer there */

static inline uint32_t mt_memo_set(const struct mt_memos *memos, const struct mt_frame *leaf) {
    uint64_t hash = (leaf->pc ^ leaf->sp << 16) * 0x9e3779b97f4a7c15u;
    return hash >> (64 - MT_MEMO_SET_BITS) & memos->used.mask;
}

/* 0 when word `i` is still the same. */
static inline uint64_t mt_memo_difference(const struct mt_memo_words *words, uint32_t i,
                                          const uint64_t *base) {
    return base[words->distances[i]] ^ words->values[i];
}

/* Four at a time: that all are the same is the rule. Words come in fours, filled up. */
static inline bool mt_memo_holds(const struct mt_memo_words *words, uint32_t count, uintptr_t sp) {
    const uint64_t *base = (const uint64_t *)MT_MEMO_BASE(sp);
    for (uint32_t i = 0; i < count; i += 4) {
        uint64_t difference = mt_memo_difference(words, i, base);
        difference |= mt_memo_difference(words, i + 1, base);
        difference |= mt_memo_difference(words, i + 2, base);
        difference |= mt_memo_difference(words, i + 3, base);
        if (mt_unlikely(difference))
            return false;
    }
    return true;
}

static inline bool mt_memo_is_of(const struct mt_memos *memos, const struct mt_memo *memo,
                                 const struct mt_frame *leaf) {
    return memo->pc == leaf->pc && memo->sp == leaf->sp && memo->epoch == memos->epoch &&
           (memo->fp == leaf->fp || !memo->fp_matters);
}

/* The ID of the stack that starts at leaf; MT_STACK_NONE when there is no memo of it. */
static inline uint32_t mt_memo_recall(const struct mt_memos *memos, const struct mt_frame *leaf) {
    uint32_t set = mt_memo_set(memos, leaf);
    for (int i = 0; i < MT_MEMO_WAYS; i++) {
        const struct mt_memo *memo = &memos->sets[set][i];
        if (mt_likely(mt_memo_is_of(memos, memo, leaf) &&
                      mt_memo_holds(&memos->words[memo->words], memo->count, leaf->sp)))
            return memo->id;
    }
    return MT_STACK_NONE;
}

/* ---- Whether they are worth their while ----
 *
 * To write a memo takes as long as some walks of a few frames do, and its words fall out of the
 * near caches together with those of the host. Where too few stacks come back, as in a compiler,
 * memos rest: after a term of many walks for the few memos that helped, nobody asks or writes them
 * for some terms. Stacks are the same with memos and without. */
enum { MT_MEMO_TERM = 4096 /* walks */, MT_MEMO_REST = 31 /* terms */ };

/* Memos are asked in this mt_image_map_generation, unless they rest. */
static inline void mt_memo_begin_generation(struct mt_memos *memos, uint64_t generation) {
    memos->asked_in = memos->rest ? 0 : generation;
}

/* Ends a term, in this generation. */
void mt_memo_judge(struct mt_memos *memos, uint64_t generation);

/* A stack was walked, in this generation. */
static inline void mt_memo_note_walk(struct mt_memos *memos, uint64_t generation) {
    if (mt_unlikely(++memos->walks >= MT_MEMO_TERM))
        mt_memo_judge(memos, generation);
}

/* Makes all memos void. */
void mt_memo_forget(struct mt_memos *memos);

/* Keeps the stack in unwinder->cache, which starts at leaf and is not cut, as far as it is the
 * thread's own.
 * returns  false where it has more words than a memo holds */
bool mt_memo_remember(struct mt_unwinder *unwinder, const struct mt_frame *leaf, uint32_t id);

#endif
