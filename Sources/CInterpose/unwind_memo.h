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

#include "unwind.h"

static inline struct mt_memo *mt_memo_set(struct mt_memos *memos, const struct mt_frame *leaf) {
    uint64_t hash = (leaf->pc ^ leaf->sp << 16) * 0x9e3779b97f4a7c15u;
    return memos->sets[hash >> (64 - MT_MEMO_SET_BITS)];
}

/* Four at a time: that all are the same is the rule. Words come in fours, filled up. */
static inline bool mt_memo_holds(const struct mt_memo *memo) {
    const struct mt_memo_word *word = memo->words, *end = word + memo->count;
    for (; word < end; word += 4) {
        uintptr_t difference = *word[0].at ^ word[0].value;
        difference |= *word[1].at ^ word[1].value;
        difference |= *word[2].at ^ word[2].value;
        difference |= *word[3].at ^ word[3].value;
        if (mt_unlikely(difference))
            return false;
    }
    return true;
}

static inline bool mt_memo_is_of(const struct mt_memos *memos, const struct mt_memo *memo,
                                 const struct mt_frame *leaf) {
    return memo->pc == leaf->pc && memo->sp == leaf->sp && memo->epoch == memos->epoch &&
           (memo->fp == leaf->fp || !memo->fp_matters) && memo->id != MT_STACK_NONE;
}

/* The ID of the stack that starts at leaf; MT_STACK_NONE when there is no memo of it. */
static inline uint32_t mt_memo_recall(struct mt_memos *memos, const struct mt_frame *leaf) {
    struct mt_memo *set = mt_memo_set(memos, leaf);
    if (mt_likely(mt_memo_is_of(memos, &set[0], leaf) && mt_memo_holds(&set[0])))
        return set[0].id;
    if (mt_memo_is_of(memos, &set[1], leaf) && mt_memo_holds(&set[1]))
        return set[1].id;
    return MT_STACK_NONE;
}

/* Keeps the stack in unwinder->cache, which starts at leaf and is not cut. */
void mt_memo_remember(struct mt_unwinder *unwinder, const struct mt_frame *leaf, uint32_t id);

#endif
