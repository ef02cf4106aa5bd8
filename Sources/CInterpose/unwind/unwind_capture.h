/* The stack of an event, inlined into what records it: most have a memo. */
#ifndef MT_UNWIND_CAPTURE_H
#define MT_UNWIND_CAPTURE_H

#include "loader/image_map.h"
#include "unwind/unwind.h"
#include "unwind/unwind_hook.h"
#include "unwind/unwind_memo.h"

/* Takes the stack that starts at the caller of a hook. Of a stack deeper than mt_unwind_depth, the
 * innermost and the outermost frames are kept, with a gap between them.
 *
 * returns  its id; MT_STACK_NONE when there is none (counted in the file header)
 * errors   errno untouched
 * context  inside a hook, on the thread that owns `unwinder` */
MT_INLINE uint32_t mt_unwind_capture(struct mt_unwinder *unwinder, const struct mt_frame *caller) {
    struct mt_frame room;
    const struct mt_frame *leaf = mt_frame_of_caller(caller, &room);
    if (mt_unlikely(!leaf))
        return mt_unwind_capture_otherwise(unwinder, caller);
    uint64_t generation = __atomic_load_n(&mt_image_map_generation, __ATOMIC_ACQUIRE);
    if (mt_likely(generation == unwinder->memos.asked_in)) {
        uint32_t stack = mt_memo_recall(&unwinder->memos, leaf);
        if (mt_likely(stack != MT_STACK_NONE)) {
            unwinder->memos.hits++;
            return stack;
        }
    }
    return mt_unwind_capture_new(unwinder, leaf);
}

#endif
