/* Follows frame pointers. See unwind_frame_pointer.h. */
#include "unwind_frame_pointer.h"

#include "stack_bounds.h"
#include "unwind_rules.h"

#if defined(__x86_64__)

enum { LONGEST_CALL = 7 };

/* Length of `call r/m64` (FF /2) as its ModRM and SIB bytes tell; 0 for other instructions. */
static unsigned indirect_call_length(const uint8_t *code) {
    unsigned mod = code[1] >> 6, operation = code[1] >> 3 & 7, base = code[1] & 7;
    if (code[0] != 0xff || operation != 2)
        return 0;
    if (mod == 3)
        return 2;
    unsigned length = 2 + (base == 4);
    if (mod == 0)
        return length + ((base == 4 ? code[2] & 7 : base) == 5 ? 4 : 0);
    return length + (mod == 1 ? 1 : 4);
}

static bool is_behind_call(uintptr_t return_address) {
    if (return_address < MT_PAGE_SIZE || !mt_os_is_readable(return_address - LONGEST_CALL - 1))
        return false;
    const uint8_t *end = (const uint8_t *)return_address;
    if (end[-5] == 0xe8)
        return true;
    for (unsigned length = 2; length <= LONGEST_CALL; length++)
        if (indirect_call_length(end - length) == length)
            return true;
    return false;
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
    bool has_table = !mt_rule_is_missing(mt_rule_for(caller->frame.pc));
    if (is_behind_call(caller->frame.pc))
        return has_table ? MT_FRAME_POINTER_PROVEN : MT_FRAME_POINTER_BEHIND_CALL;
    return has_table || caller->frame.pc < MT_PAGE_SIZE ? MT_FRAME_POINTER_NONE
                                                        : MT_FRAME_POINTER_DOUBTFUL;
}

#endif
