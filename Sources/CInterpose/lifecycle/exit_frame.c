/* See exit_frame.h. */
#include "lifecycle/exit_frame.h"

#include "loader/image_map.h"
#include "loader/loaded_symbols.h"
#include "unwind/eh_frame.h"
#include "unwind/unwind_rules.h"

#if defined(__x86_64__)

/* From an exit handler over exit to __libc_start_main are three or four. */
enum { MOST_FRAMES = 8, GREATEST_FRAME = 1 << 16 };

static bool read_word(uintptr_t address, uintptr_t *word) {
    if ((address & 7) || !mt_os_is_readable(address))
        return false;
    *word = *(const uintptr_t *)address;
    return true;
}

static bool step(struct mt_frame *frame) {
    struct mt_rule rule = mt_rule_for(frame->pc);
    if (rule.kind != MT_RULE_FRAME)
        return false;
    uintptr_t cfa =
        (rule.is_from_fp ? frame->fp : frame->sp) + (uintptr_t)(intptr_t)rule.cfa_offset;
    if (cfa <= frame->sp || cfa - frame->sp > GREATEST_FRAME || !read_word(cfa - 8, &frame->pc))
        return false;
    if (rule.restores_fp && !read_word(cfa + (uintptr_t)(intptr_t)rule.fp_offset, &frame->fp))
        return false;
    frame->sp = cfa;
    return true;
}

/* What exit's frame holds of the program: registers, which may hold variables of its functions.
 * Below are variables of exit's own, which it has not all written to. */
static struct mt_frame without_variables(struct mt_frame frame,
                                         const struct mt_unwind_section *library) {
    intptr_t saved = mt_eh_frame_lowest_saved(library, frame.pc - 1);
    struct mt_frame next = frame;
    if (saved < 0 && step(&next) && next.sp + (uintptr_t)saved > frame.sp)
        frame.sp = next.sp + (uintptr_t)saved;
    return frame;
}

struct mt_frame mt_exit_frame(struct mt_frame caller) {
    struct mt_unwind_section library, section;
    size_t size;
    uintptr_t start = mt_loaded_find_sized("libc.so", "__libc_start_main", &size);
    if (!start || !mt_image_map_unwind_section(start, &library))
        return caller;
    struct mt_frame frame = caller;
    for (int i = 0; i < MOST_FRAMES; i++) {
        /* A function of the program called exit: it and its callers are still there. */
        if (!mt_image_map_unwind_section(frame.pc - 1, &section) ||
            section.image_start != library.image_start)
            return i == 0 ? caller : without_variables(caller, &library);
        bool has_returned = frame.pc - 1 - start < size;
        if (!step(&frame))
            return caller;
        if (has_returned)
            return frame;
    }
    return caller;
}

#else

struct mt_frame mt_exit_frame(struct mt_frame caller) {
    return caller;
}

#endif
