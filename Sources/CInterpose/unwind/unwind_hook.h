/* The frame that called a hook, as a walk needs it. */
#ifndef MT_UNWIND_HOOK_H
#define MT_UNWIND_HOOK_H

#include "unwind/unwind_rules.h"

#if defined(__x86_64__)

/* What MT_CALLER_FRAME() says is all. */
static inline const struct mt_frame *mt_frame_of_caller(const struct mt_frame *said,
                                                        struct mt_frame *room) {
    (void)room;
    return said;
}

#else

/* Completes what MT_CALLER_FRAME() has said: the caller's stack pointer is where the hook's frame
 * ends, and how far that is from its frame record, only its unwind rule tells.
 *
 * room     for the whole frame
 * returns  it; NULL where the rule says something else, and libunwind has to walk
 * context  as mt_rule_for */
static inline const struct mt_frame *mt_frame_of_caller(const struct mt_frame *said,
                                                        struct mt_frame *room) {
    if (said->hook_pc == 0)
        return said;
    uint64_t rule = mt_rule_word_for(said->hook_pc + 1); /* which looks in front of it */
    if (!(rule & MT_USES_TABLE) || rule & MT_FP_PASSES ||
        mt_rule_word_pc_offset(rule) != mt_rule_word_fp_offset(rule) + 8)
        return NULL;
    *room = *said;
    room->sp -= (uintptr_t)mt_rule_word_fp_offset(rule);
    room->hook_pc = 0;
    return room;
}

#endif

#endif
