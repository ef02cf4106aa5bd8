/* Follows signal handlers to what they interrupted. See unwind_signal.h. */
#define _GNU_SOURCE
#include "unwind/unwind_signal.h"

#include "unwind/stack_bounds.h"
#include "unwind/unwind_cache.h"
#include "unwind/unwind_walk.h"
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

/* One that is interrupted by another. */
enum { MOST_SIGNALS = 8 };

_Static_assert(MOST_SIGNALS *(MT_FRESH_INNER + 1) + MT_CACHE_FRAMES <= MT_LIBUNWIND_FRAMES,
               "unwinder->pcs holds all frames");

#if defined(__x86_64__)

/* mov $15, %rax; syscall */
static const uint8_t signal_return[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* Where the context is that a handler returns with. */
static uintptr_t context_above(uintptr_t sp) {
    return sp;
}

static const size_t place_of_pc = offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]);
static const size_t place_of_sp = offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]);
static const size_t place_of_fp = offsetof(ucontext_t, uc_mcontext.gregs[REG_RBP]);

#else

/* mov x8, #139; svc #0 */
static const uint8_t signal_return[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};

/* Behind what the handler was told (struct rt_sigframe, arch/arm64/kernel/signal.c). */
static uintptr_t context_above(uintptr_t sp) {
    return sp + sizeof(siginfo_t);
}

static const size_t place_of_pc = offsetof(ucontext_t, uc_mcontext.pc);
static const size_t place_of_sp = offsetof(ucontext_t, uc_mcontext.sp);
static const size_t place_of_fp = offsetof(ucontext_t, uc_mcontext.regs[29]);

#endif

bool mt_is_signal_return(uintptr_t address) {
    return mt_os_holds(address, signal_return, sizeof signal_return);
}

/* What was interrupted, by the frame that the handler returns to. That is on the stack that was
 * walked last; the other may be any, even one that has run over its end.
 *
 * returns  whether both can be read */
static bool read_interrupted(struct mt_unwinder *unwinder, const struct mt_frame *after_handler,
                             struct mt_frame *interrupted) {
    uintptr_t context = context_above(after_handler->sp);
    struct mt_address_range *stack = mt_stack_bounds_enter(unwinder, after_handler->sp - 8);
    if (!mt_stack_bounds_holds(stack, context + place_of_pc)) /* the last of these */
        return false;
    *interrupted = (struct mt_frame){.pc = mt_stack_word(context + place_of_pc),
                                     .sp = mt_stack_word(context + place_of_sp),
                                     .fp = mt_stack_word(context + place_of_fp)};
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
