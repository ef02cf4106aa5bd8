/* Which memory is stack: the walk reads nothing else.
 *
 * Bounds are not asked for (pthread_getattr_np holds a lock while it allocates, /proc/self/maps is
 * slow) but felt: a page is stack if it can be read and joins pages already known. The thread's
 * own stack is known from its top downwards and stays known, since it cannot go away under the
 * thread; any other (a fiber's, an alternate signal stack) is felt anew whenever it is entered. */
#ifndef MT_STACK_BOUNDS_H
#define MT_STACK_BOUNDS_H

#include "base/tls.h"
#include "unwind/unwinder.h"

/* Prepares for the calling thread. Async-signal-safe. */
void mt_stack_bounds_begin(struct mt_unwinder *unwinder);

/* The range that holds sp, which must be the present stack pointer or above it on the same stack.
 * It ends where reading has been tried so far; mt_stack_bounds_reach extends it upwards. */
static inline struct mt_address_range *mt_stack_bounds_enter(struct mt_unwinder *unwinder,
                                                             uintptr_t sp);

/* mt_stack_bounds_enter() where sp is not in the known part of the thread's own stack. With
 * unwinder->stack_end, the range begins there. */
struct mt_address_range *mt_stack_bounds_enter_unknown(struct mt_unwinder *unwinder, uintptr_t sp);

static inline struct mt_address_range *mt_stack_bounds_enter(struct mt_unwinder *unwinder,
                                                             uintptr_t sp) {
    struct mt_address_range *own = &unwinder->own_stack;
    if (mt_unlikely(sp < own->low || sp >= own->high || unwinder->other_stack.high != 0))
        return mt_stack_bounds_enter_unknown(unwinder, sp);
    return own;
}

/* The cold half of mt_stack_bounds_holds: tries to extend the range up to the 8 bytes at address.
 */
bool mt_stack_bounds_reach(struct mt_address_range *range, uintptr_t address);

/* True when the 8 bytes at address are stack. */
static inline bool mt_stack_bounds_holds(struct mt_address_range *range, uintptr_t address) {
    if (mt_unlikely((address & 7) != 0 || address < range->low))
        return false;
    return mt_likely(address < range->high) || mt_stack_bounds_reach(range, address);
}

/* Whether a call is over: what runs now, at sp, lies above it on the thread's own stack, or other
 * calls have overwritten the word. The stack is felt as far down as the call. False where nothing
 * can be said: of calls on other stacks, or where the word is not known or only looks untouched. */
bool mt_stack_bounds_has_left(struct mt_unwinder *unwinder, struct mt_entered call, uintptr_t sp);

#endif
