/* Writes memos. See unwind_memo.h. */
#include "unwind_memo.h"

#if defined(__x86_64__)

static bool is_own_stack(const struct mt_unwinder *unwinder, uintptr_t address) {
    return address >= unwinder->own_stack.low && address < unwinder->own_stack.high;
}

/* How many words the walk has read: the return address below each frame's stack pointer, and the
 * saved frame pointers that matter. */
static uint32_t count_words(const struct mt_unwinder *unwinder) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < unwinder->cached - 1; i++)
        count += unwinder->cache[i].fp_slot ? 2 : 1;
    return count;
}

/* Takes these words, which fit. Returns their number, filled up to a multiple of four. */
static uint32_t collect(const struct mt_unwinder *unwinder, struct mt_memo *memo) {
    uint32_t count = 0;
    for (uint32_t i = unwinder->cached - 1; i-- > 0;) {
        const struct mt_cached_frame *frame = &unwinder->cache[i];
        memo->words[count++] =
            (struct mt_memo_word){(const uintptr_t *)(frame->frame.sp - 8), frame->frame.pc};
        if (frame->fp_slot)
            memo->words[count++] =
                (struct mt_memo_word){(const uintptr_t *)frame->fp_slot, frame->frame.fp};
    }
    while (count % 4 != 0) {
        memo->words[count] = memo->words[count - 1];
        count++;
    }
    return count;
}

/* True for a stack that comes back and fits. Those that do not come here with every event: what was
 * counted is noted. */
static bool deserves_memo(struct mt_unwinder *unwinder, uint32_t id) {
    static const uint32_t has_too_many_words = 1u << 31; /* no ID has this bit */
    uint32_t *seen = &unwinder->memos.seen[(id * 0x9e3779b1u) >> (32 - MT_MEMO_SEEN_BITS)];
    if (*seen == (id | has_too_many_words))
        return false;
    bool comes_back = *seen == id;
    bool fits = !comes_back || count_words(unwinder) <= MT_MEMO_WORDS;
    *seen = fits ? id : id | has_too_many_words;
    return comes_back && fits;
}

void mt_memo_remember(struct mt_unwinder *unwinder, const struct mt_frame *leaf, uint32_t id) {
    uint32_t cached = unwinder->cached;
    if (cached < 2 || cached > MT_MEMO_WORDS + 1 || unwinder->dropped ||
        !is_own_stack(unwinder, leaf->sp - 16) ||
        !is_own_stack(unwinder, unwinder->cache[0].frame.sp - 8) || !deserves_memo(unwinder, id))
        return;
    struct mt_memo *set = mt_memo_set(&unwinder->memos, leaf);
    struct mt_memo *memo = set + (unwinder->memos.turn++ & 1);
    memo->id = MT_STACK_NONE; /* whatever interrupts this finds no half of a memo */
    __asm__ volatile("" ::: "memory");
    memo->count = collect(unwinder, memo);
    memo->pc = leaf->pc;
    memo->sp = leaf->sp;
    memo->fp = leaf->fp;
    memo->epoch = unwinder->memos.epoch;
    memo->fp_matters = unwinder->cache[cached - 1].fp_use & MT_FP_MATTERS;
    __asm__ volatile("" ::: "memory");
    memo->id = id;
}

#endif
