/* Writes memos. See unwind_memo.h. */
#include "unwind/unwind_memo.h"

#include <string.h>

MT_COLD void mt_memo_forget(struct mt_memos *memos) {
    if (++memos->epoch != 0)
        return;
    memset(memos->sets, 0, sizeof memos->sets);
    memos->taken = 0;
}

MT_COLD void mt_memo_judge(struct mt_memos *memos, uint64_t generation) {
    if (memos->rest > 0)
        memos->rest--;
    else if (memos->hits < 2 * memos->walks)
        memos->rest = MT_MEMO_REST;
    memos->hits = memos->walks = 0;
    mt_memo_begin_generation(memos, generation);
}

static bool is_own_stack(const struct mt_unwinder *unwinder, uintptr_t address) {
    return address >= unwinder->own_stack.low && address < unwinder->own_stack.high;
}

/* Takes the words, of which there are not too many. Returns their number, filled up to a multiple
 * of four; 0 when one is too far from the leaf. */
static uint32_t collect(const struct mt_check *checks, uint32_t count, uintptr_t sp,
                        struct mt_memo_words *words) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t distance = checks[count - 1 - i].address - MT_MEMO_BASE(sp);
        if (distance % 8 != 0 || distance / 8 > UINT16_MAX)
            return 0;
        words->distances[i] = (uint16_t)(distance / 8);
        words->values[i] = checks[count - 1 - i].value;
    }
    for (; count % 4 != 0; count++) {
        words->distances[count] = words->distances[count - 1];
        words->values[count] = words->values[count - 1];
    }
    return count;
}

/* Sees to it that a memo has room for its words. A handler that jumps out of this leaves room that
 * nobody has: in the end there may be none. */
static bool has_words(struct mt_memos *memos, struct mt_memo *memo) {
    if (memo->words == 0 && memos->taken < MT_MEMOS)
        memo->words = (uint16_t)++memos->taken;
    return memo->words != 0;
}

static bool is_memo(const struct mt_memos *memos, const struct mt_memo *memo) {
    return memo->id != MT_STACK_NONE && memo->epoch == memos->epoch;
}

/* Returns the set that gets a memo, whose next one is displaced. */
static uint32_t make_room(struct mt_memos *memos, const struct mt_frame *leaf) {
    uint32_t set = mt_memo_set(memos, leaf);
    if (is_memo(memos, &memos->sets[set][memos->turn & (MT_MEMO_WAYS - 1)]))
        mt_mask_note_displaced(&memos->used, MT_MEMO_SETS_FIRST - 1, MT_MEMO_SETS - 1,
                               MT_MEMO_SETS_SHARE);
    return mt_memo_set(memos, leaf);
}

bool mt_memo_remember(struct mt_unwinder *unwinder, const struct mt_frame *leaf, uint32_t id) {
    uint32_t cached = unwinder->cached;
    uint32_t checks = unwinder->cache[cached - 1].first_check; /* those of the leaf's callers */
    if (checks > MT_MEMO_WORDS)
        return false;
    if (checks == 0 || unwinder->dropped || !is_own_stack(unwinder, leaf->sp - 16) ||
        !is_own_stack(unwinder, unwinder->cache[0].frame.sp - 8))
        return true;
    struct mt_memos *memos = &unwinder->memos;
    uint32_t set = make_room(memos, leaf), turn = memos->turn++ & (MT_MEMO_WAYS - 1);
    struct mt_memo *memo = &memos->sets[set][turn];
    memo->id = MT_STACK_NONE; /* whatever interrupts this finds no half of a memo */
    __asm__ volatile("" ::: "memory");
    if (!has_words(memos, memo))
        return true;
    struct mt_memo_words *words = &memos->words[memo->words];
    uint32_t count = collect(mt_checks(unwinder), checks, leaf->sp, words);
    if (count == 0)
        return true;
    memo->pc = leaf->pc;
    memo->sp = leaf->sp;
    memo->fp = leaf->fp;
    memo->epoch = memos->epoch;
    memo->count = (uint8_t)count;
    memo->fp_matters = unwinder->cache[cached - 1].use & MT_FP_MATTERS ? 1 : 0;
    __asm__ volatile("" ::: "memory");
    memo->id = id;
    return true;
}
