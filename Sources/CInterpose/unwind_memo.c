/* Writes memos. See unwind_memo.h. */
#include "unwind_memo.h"

#include <string.h>

MT_COLD void mt_memo_forget(struct mt_memos *memos) {
    if (++memos->epoch == 0)
        memset(memos->sets, 0, sizeof memos->sets);
}

MT_COLD void mt_memo_judge(struct mt_memos *memos) {
    if (memos->rest > 0)
        memos->rest--;
    else if (memos->hits < 2 * memos->walks)
        memos->rest = MT_MEMO_REST;
    memos->hits = memos->walks = 0;
}

#if defined(__x86_64__)

static bool is_own_stack(const struct mt_unwinder *unwinder, uintptr_t address) {
    return address >= unwinder->own_stack.low && address < unwinder->own_stack.high;
}

/* Makes a word of the value read at an address. False when that is too far from the leaf, or the
 * value no address. */
static bool put_word(uint64_t *word, uintptr_t sp, uintptr_t at, uintptr_t value) {
    uint64_t distance = at - MT_MEMO_BASE(sp);
    *word = value << MT_MEMO_REACH_BITS | distance / 8;
    return distance % 8 == 0 && distance / 8 >> MT_MEMO_REACH_BITS == 0 &&
           value >> (64 - MT_MEMO_REACH_BITS) == 0;
}

/* Takes the words, of which there are not too many. Returns their number, filled up to a multiple
 * of four; 0 when one cannot be kept. */
static uint32_t collect(const struct mt_check *checks, uint32_t count, uintptr_t sp,
                        uint64_t *words) {
    for (uint32_t i = 0; i < count; i++)
        if (!put_word(&words[i], sp, checks[count - 1 - i].address, checks[count - 1 - i].value))
            return 0;
    for (; count % 4 != 0; count++)
        words[count] = words[count - 1];
    return count;
}

bool mt_memo_remember(struct mt_unwinder *unwinder, const struct mt_frame *leaf, uint32_t id) {
    uint32_t cached = unwinder->cached;
    uint32_t checks = cached < 2 ? 0 : unwinder->cache[cached - 2].checks;
    if (checks > MT_MEMO_WORDS)
        return false;
    if (checks == 0 || unwinder->dropped || !is_own_stack(unwinder, leaf->sp - 16) ||
        !is_own_stack(unwinder, unwinder->cache[0].frame.sp - 8))
        return true;
    struct mt_memos *memos = &unwinder->memos;
    uint32_t set = mt_memo_set(leaf), turn = memos->turn++ & (MT_MEMO_WAYS - 1);
    struct mt_memo *memo = &memos->sets[set][turn];
    memo->id = MT_STACK_NONE; /* whatever interrupts this finds no half of a memo */
    __asm__ volatile("" ::: "memory");
    uint32_t count = collect(unwinder->checks, checks, leaf->sp, memos->words[set][turn].words);
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

#endif
