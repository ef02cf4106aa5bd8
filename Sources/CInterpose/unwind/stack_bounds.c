/* Feels its way along stacks. See stack_bounds.h. */
#define _GNU_SOURCE
#include "unwind/stack_bounds.h"

#include <pthread.h>

/* Where the kernel put argc: everything the main thread calls lies below. ld.so exports it. */
extern void *__libc_stack_end __attribute__((weak));

/* How far a stack is followed at a time, beyond what is known of it. */
enum { LARGEST_STRIDE = 1 << 20 };

static uintptr_t page_of(uintptr_t address) {
    return address & ~(uintptr_t)(MT_PAGE_SIZE - 1);
}

void mt_stack_bounds_begin(struct mt_unwinder *unwinder) {
    /* glibc puts a thread's control block at the top of its stack. */
    uintptr_t top = page_of((uintptr_t)pthread_self());
    if (mt_os_tid() == mt_os_pid() && &__libc_stack_end)
        top = page_of((uintptr_t)__libc_stack_end);
    /* With the page that holds the top: the frames of a shallow program lie nowhere else. */
    unwinder->own_stack = (struct mt_address_range){top, top + MT_PAGE_SIZE};
    unwinder->other_stack = (struct mt_address_range){0, 0};
}

/* Extends the thread's own stack down to sp, if all between can be read. */
static bool extend_down(struct mt_address_range *range, uintptr_t sp) {
    if (sp >= range->low || range->low - sp > LARGEST_STRIDE)
        return false;
    for (uintptr_t page = range->low; page > page_of(sp); page -= MT_PAGE_SIZE)
        if (!mt_os_is_readable(page - MT_PAGE_SIZE))
            return false;
    range->low = page_of(sp);
    return true;
}

/* Feels the thread's own stack down to the address. False when that lies elsewhere. */
static bool own_stack_holds(struct mt_address_range *own, uintptr_t address) {
    while (address < own->low) {
        bool is_far = own->low - address > LARGEST_STRIDE;
        if (!extend_down(own, is_far ? own->low - LARGEST_STRIDE : address))
            return false;
    }
    return address < own->high;
}

bool mt_stack_bounds_has_left(struct mt_unwinder *unwinder, struct mt_entered call, uintptr_t sp) {
    struct mt_address_range *own = &unwinder->own_stack;
    if (!own_stack_holds(own, call.sp - sizeof call.word))
        return false;
    if (call.word != 0 && mt_entered_at(call.sp).word != call.word)
        return true;
    return sp >= call.sp && sp < own->high && !mt_os_on_signal_stack();
}

struct mt_address_range *mt_stack_bounds_enter_unknown(struct mt_unwinder *unwinder, uintptr_t sp) {
    struct mt_address_range *own = &unwinder->own_stack, *other = &unwinder->other_stack;
    if (unwinder->stack_end == UINTPTR_MAX) {
        *other = (struct mt_address_range){0, 0};
        return other;
    }
    if (unwinder->stack_end)
        sp = unwinder->stack_end;
    if ((sp >= own->low && sp < own->high) || extend_down(own, sp)) {
        *other = (struct mt_address_range){0, 0};
        return own;
    }
    if (sp < other->low || sp >= other->high)
        *other = (struct mt_address_range){page_of(sp), page_of(sp) + MT_PAGE_SIZE};
    return other;
}

bool mt_stack_bounds_reach(struct mt_address_range *range, uintptr_t address) {
    if (address - range->high >= LARGEST_STRIDE)
        return false;
    while (range->high <= address) {
        if (!mt_os_is_readable(range->high))
            return false;
        range->high += MT_PAGE_SIZE;
    }
    return true;
}
