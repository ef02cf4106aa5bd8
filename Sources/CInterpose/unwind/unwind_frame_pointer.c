/* Follows frame pointers. See unwind_frame_pointer.h. */
#include "unwind/unwind_frame_pointer.h"

#include "loader/image_map.h"
#include "unwind/epilogue.h"
#include "unwind/stack_bounds.h"
#include "unwind/unwind_rules.h"

#if defined(__x86_64__)

/* Whether the call before a return address leads into another image than that of the code which
 * would return there: a word that a function has left behind, in a buffer that rbp points to. */
static bool is_of_other_call(uintptr_t return_address, uintptr_t pc) {
    struct mt_unwind_section ours, called;
    uintptr_t target;
    return mt_call_before(return_address, &target) == MT_CALL_DIRECT &&
           mt_image_map_unwind_section(pc, &ours) && mt_image_map_unwind_section(target, &called) &&
           ours.image_start != called.image_start;
}

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
    bool has_table = !mt_rule_is_missing(rule);
    if (is_of_other_call(caller->frame.pc, frame->pc))
        return MT_FRAME_POINTER_NONE;
    /* Outside of images it may be data: one of a hundred words looks as if behind a call. */
    if (mt_is_behind_call(caller->frame.pc) && rule.kind != MT_RULE_NO_IMAGE)
        return has_table ? MT_FRAME_POINTER_PROVEN : MT_FRAME_POINTER_BEHIND_CALL;
    return has_table || caller->frame.pc < MT_PAGE_SIZE ? MT_FRAME_POINTER_NONE
                                                        : MT_FRAME_POINTER_DOUBTFUL;
}

#endif
