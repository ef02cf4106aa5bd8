/* See interrupted_stack.h. */
#include "events/interrupted_stack.h"

#include "events/hook.h"
#include "events/thread_state.h"
#include "loader/real.h"
#include "unwind/unwind.h"
#include "unwind/unwind_capture.h"
#include <string.h>

#if defined(__x86_64__)
enum { FRAME_POINTER = 6 };
#else
enum { FRAME_POINTER = 29, LINK = 30 };
#endif

/* Return addresses lie behind calls: one byte behind what was executed. */
static struct mt_frame interrupted_frame(const struct mt_registers *registers) {
    return (struct mt_frame){
        .pc = registers->pc + 1, .sp = registers->sp, .fp = registers->values[FRAME_POINTER]};
}

/* Who called an address at which there is nothing: a null pointer to a function, mostly. */
static struct mt_frame caller_of_nothing(const struct mt_registers *registers) {
    struct mt_frame frame = interrupted_frame(registers);
#if defined(__x86_64__)
    if (frame.sp % sizeof frame.pc || !mt_os_is_readable(frame.sp))
        return frame;
    memcpy(&frame.pc, (const void *)frame.sp, sizeof frame.pc);
    frame.sp += sizeof frame.pc;
#else
    frame.pc = registers->values[LINK];
#endif
    return frame;
}

/* In what the host's allocator does for a hook nothing of ours is half done: what is known of the
 * thread's stack holds, or does where it is forgotten. The hook does not go on. In ours, only the
 * end of the stack is no reason to trust nothing. */
static bool can_begin_anew(const struct mt_registers *registers) {
    bool is_ours = mt_real_is_ours(registers->pc);
    if (!mt_tls.thread || mt_tls.in_libunwind || (is_ours && !mt_tls.stack_end))
        return false;
    if (is_ours)
        mt_thread_repair(mt_tls.thread);
    else
        mt_unwind_forget(&mt_tls.thread->unwinder);
    return true;
}

static uint32_t capture(struct mt_unwinder *unwinder, struct mt_frame frame) {
    unwinder->stack_end = mt_tls.stack_end;
    uint32_t stack = mt_unwind_capture(unwinder, &frame);
    unwinder->stack_end = 0;
    return stack;
}

uint32_t mt_interrupted_stack(const struct mt_registers *registers) {
    bool is_code = mt_os_is_readable(registers->pc & -(uintptr_t)sizeof(uintptr_t));
    struct mt_frame frame = is_code ? interrupted_frame(registers) : caller_of_nothing(registers);
    /* A hook looks at what is below the stack pointer of its caller. */
    enum mt_entry entry = mt_enter(mt_tls.stack_end ? (uintptr_t)registers : frame.sp);
    bool can_walk =
        entry == MT_ENTRY_RECORD || (entry == MT_ENTRY_LANE && can_begin_anew(registers));
    uint32_t stack = MT_STACK_NONE;
    if (can_walk && mt_unwind_depth)
        stack = capture(&mt_tls.thread->unwinder, frame);
    mt_leave(entry);
    return stack;
}
