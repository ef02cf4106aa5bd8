/* Follows signal handlers to what they interrupted. See unwind_signal.h. */
#define _GNU_SOURCE
#include "unwind/unwind_signal.h"

#include "unwind/call_site.h"
#include "unwind/stack_bounds.h"
#include "unwind/unwind_cache.h"
#include "unwind/unwind_walk.h"
#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__)

/* One that is interrupted by another. */
enum { MOST_SIGNALS = 8 };

_Static_assert(MOST_SIGNALS *(MT_FRESH_INNER + 1) + MT_CACHE_FRAMES <= MT_LIBUNWIND_FRAMES,
               "unwinder->pcs holds all frames");

bool mt_is_signal_return(uintptr_t address) {
    /* mov $15, %rax; syscall */
    static const uint8_t RETURN[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    const uint8_t *code = mt_readable_code(address);
    return code && memcmp(code, RETURN, sizeof RETURN) == 0;
}

static uintptr_t place_of(uintptr_t context, int number) {
    return context + offsetof(ucontext_t, uc_mcontext.gregs) + 8 * (size_t)number;
}

static uintptr_t saved(uintptr_t context, int number) {
    return mt_stack_word(place_of(context, number));
}

/* What was interrupted, by the frame that the handler returns to. That is on the stack that was
 * walked last; the other may be any, even one that has run over its end.
 *
 * returns  whether both can be read */
static bool read_interrupted(struct mt_unwinder *unwinder, const struct mt_frame *after_handler,
                             struct mt_frame *interrupted) {
    uintptr_t context = after_handler->sp;
    struct mt_address_range *stack = mt_stack_bounds_enter(unwinder, context - 8);
    if (!mt_stack_bounds_holds(stack, place_of(context, REG_RIP))) /* the last of these */
        return false;
    *interrupted = (struct mt_frame){saved(context, REG_RIP), saved(context, REG_RSP),
                                     saved(context, REG_RBP)};
    return mt_os_is_readable(interrupted->sp);
}

uint32_t mt_signal_frames(struct mt_unwinder *unwinder, uint32_t known) {
    uint32_t count = 0;
    enum mt_walk_end end = MT_WALK_SIGNAL;
    for (int signals = 0; end == MT_WALK_SIGNAL; signals++) {
        struct mt_frame interrupted;
        if (signals == MOST_SIGNALS ||
            !read_interrupted(unwinder, &unwinder->fresh[known - 1].frame, &interrupted))
            return 0;
        for (uint32_t i = 0; i < known; i++)
            unwinder->pcs[count++] = unwinder->fresh[i].frame.pc;
        unwinder->pcs[count++] = interrupted.pc | MT_STACK_EXACT_MARK;
        end = mt_unwind_walk_interrupted(unwinder, interrupted, &known);
    }
    return end == MT_WALK_CACHED ? count : 0;
}

#endif
