/* Goes on where Go has called C. See unwind_goroutine.h. */
#include "unwind/unwind_goroutine.h"

#include "loader/image_map.h"
#include "unwind/call_site.h"
#include "unwind/stack_bounds.h"
#include "unwind/unwind_cache.h"
#include "unwind/unwind_rules.h"

#if defined(__x86_64__)

enum {
    ASSEMBLY_WORDS = 10,         /* Go has used 2 and 8 */
    LARGEST_GOROUTINE = 1 << 30, /* runtime.maxstacksize */
    KNOWN_RETURNS_BITS = 12
};

/* Return addresses that were found good, with the generation of images for which they are: to look
 * at code takes a system call. */
static uintptr_t g_known_returns[1 << KNOWN_RETURNS_BITS];

static bool are_readable(uintptr_t address, unsigned words) {
    uintptr_t last = address + (words - 1) * 8;
    return address >= MT_PAGE_SIZE && address % 8 == 0 && mt_os_is_readable(address) &&
           (address / MT_PAGE_SIZE == last / MT_PAGE_SIZE || mt_os_is_readable(last));
}

static bool is_in_image_without_table(uintptr_t pc) {
    struct mt_rule rule = mt_rule_for(pc);
    return rule.kind == MT_RULE_NO_TABLE || rule.kind == MT_RULE_EPILOGUE;
}

/* Whether Go code can go on at an address: code of an image, without table, behind a call. */
static bool is_return(uintptr_t pc) {
    uint64_t generation = __atomic_load_n(&mt_image_map_generation, __ATOMIC_ACQUIRE);
    uintptr_t key = pc ^ generation << 48;
    uintptr_t *known = &g_known_returns[pc * 0x9e3779b97f4a7c15u >> (64 - KNOWN_RETURNS_BITS)];
    if (__atomic_load_n(known, __ATOMIC_RELAXED) == key)
        return true;
    if (pc < MT_PAGE_SIZE || !is_in_image_without_table(pc) || !mt_is_behind_call(pc))
        return false;
    __atomic_store_n(known, key, __ATOMIC_RELAXED);
    return true;
}

static struct mt_address_range range_at(uintptr_t address) {
    uintptr_t page = address & ~(uintptr_t)(MT_PAGE_SIZE - 1);
    return (struct mt_address_range){page, page + MT_PAGE_SIZE};
}

/* What a pair of words says, if it is a depth and a goroutine. */
static bool waits_at(uintptr_t depth, uintptr_t goroutine, uintptr_t fp,
                     struct mt_goroutine *waiting) {
    if (depth < 16 || depth % 8 != 0 || depth > LARGEST_GOROUTINE || !are_readable(goroutine, 2))
        return false;
    uintptr_t low = mt_stack_word(goroutine), end = mt_stack_word(goroutine + 8), sp = end - depth;
    if (end < depth || end % 8 != 0 || sp < low || !are_readable(sp, 1))
        return false;
    waiting->frame = (struct mt_frame){mt_stack_word(sp), sp + 8, fp};
    waiting->stack_end = end;
    return is_return(waiting->frame.pc);
}

bool mt_goroutine_waits(const struct mt_frame *frame, struct mt_address_range *stack,
                        struct mt_goroutine *waiting) {
    for (uintptr_t at = frame->sp; at < frame->sp + ASSEMBLY_WORDS * 8; at += 8) {
        if (!mt_stack_bounds_holds(stack, at) || !mt_stack_bounds_holds(stack, at + 8))
            return false;
        if (waits_at(mt_stack_word(at), mt_stack_word(at + 8), frame->fp, waiting))
            return true;
    }
    return false;
}

/* From a frame of Go to its caller; false where the chain leaves the goroutine's stack: C code has
 * called Go, or the stack was moved since, and rbp, which C code had saved, points to where it was.
 */
static bool go_up(struct mt_frame *frame, uintptr_t end, struct mt_address_range *stack) {
    uintptr_t fp = frame->fp;
    if (fp < frame->sp || fp > end - 16 || !mt_stack_bounds_holds(stack, fp) ||
        !mt_stack_bounds_holds(stack, fp + 8))
        return false;
    *frame = (struct mt_frame){mt_stack_word(fp + 8), fp + 16, mt_stack_word(fp)};
    return true;
}

/* The outermost function returns to the beginning of runtime.goexit, which has not called it. */
static bool is_frame(const struct mt_frame *frame) {
    return frame->fp == 0 ? is_in_image_without_table(frame->pc) : is_return(frame->pc);
}

uint32_t mt_goroutine_frames(const struct mt_goroutine *waiting, uintptr_t *pcs, uint32_t capacity,
                             bool *lacks_root) {
    struct mt_frame frame = waiting->frame;
    struct mt_address_range stack = range_at(frame.sp - 8);
    uint32_t count = 0;
    *lacks_root = true;
    while (count < capacity) {
        pcs[count++] = frame.pc;
        if (!go_up(&frame, waiting->stack_end, &stack) || !is_frame(&frame))
            break;
        if (frame.fp == 0 && count < capacity) {
            pcs[count++] = frame.pc;
            *lacks_root = false;
            break;
        }
    }
    return count;
}

#else /* Go's assembly for other machines keeps other words */

bool mt_goroutine_waits(const struct mt_frame *frame, struct mt_address_range *stack,
                        struct mt_goroutine *waiting) {
    (void)frame, (void)stack, (void)waiting;
    return false;
}

uint32_t mt_goroutine_frames(const struct mt_goroutine *waiting, uintptr_t *pcs, uint32_t capacity,
                             bool *lacks_root) {
    (void)waiting, (void)pcs, (void)capacity;
    *lacks_root = true;
    return 0;
}

#endif
