/* See interrupted_stack.h. */
#include "events/interrupted_stack.h"

#include "events/hook.h"
#include "events/thread_state.h"
#include "unwind/unwind_capture.h"

#if defined(__x86_64__)
enum { FRAME_POINTER = 6 };
#else
enum { FRAME_POINTER = 29 };
#endif

/* Return addresses lie behind calls: one byte behind what was executed. */
uint32_t mt_interrupted_stack(const struct mt_registers *registers) {
    struct mt_frame frame = {
        .pc = registers->pc + 1, .sp = registers->sp, .fp = registers->values[FRAME_POINTER]};
    enum mt_entry entry = mt_enter(frame.sp);
    uint32_t stack = MT_STACK_NONE;
    if (entry == MT_ENTRY_RECORD && mt_unwind_depth)
        stack = mt_unwind_capture(&mt_tls.thread->unwinder, &frame);
    mt_leave(entry);
    return stack;
}
