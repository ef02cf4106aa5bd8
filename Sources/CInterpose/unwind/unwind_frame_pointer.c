/* Follows frame pointers. See unwind_frame_pointer.h. */
#include "unwind/unwind_frame_pointer.h"

#include "unwind/call_site.h"
#include "unwind/stack_bounds.h"
#include "unwind/unwind_rules.h"

#if defined(__x86_64__)

enum mt_frame_pointer mt_frame_pointer_caller(const struct mt_frame *frame,
                                              struct mt_address_range *stack,
                                              struct mt_cached_frame *caller) {
    if (!mt_frame_pointer_is_near(frame) || !mt_stack_bounds_holds(stack, frame->fp) ||
        !mt_stack_bounds_holds(stack, frame->fp + 8))
        return MT_FRAME_POINTER_NONE;
    const uintptr_t *saved = (const uintptr_t *)frame->fp;
    caller->fp_slot = frame->fp;
    caller->frame.fp = saved[0];
    caller->frame.pc = saved[1];
    caller->frame.sp = frame->fp + 16;
    struct mt_rule rule = mt_rule_for(caller->frame.pc);
    if (!mt_rule_is_missing(rule))
        return mt_is_behind_call(caller->frame.pc) ? MT_FRAME_POINTER_PROVEN
                                                   : MT_FRAME_POINTER_NONE;
    if (rule.is_behind_call)
        return MT_FRAME_POINTER_BEHIND_CALL;
    return caller->frame.pc < MT_PAGE_SIZE ? MT_FRAME_POINTER_NONE : MT_FRAME_POINTER_DOUBTFUL;
}

#endif
