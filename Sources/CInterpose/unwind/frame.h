/* Frames of a stack, and where the return addresses of machines are.
 *
 * x86_64: a call pushes it, so that it lies just below the caller's frame. aarch64: a function that
 * calls others saves it (x30) in its own frame, at a place that its unwind table tells; often as
 * the second word of a frame record, whose first is the caller's frame pointer (AAPCS64 6.4.6). It
 * may be signed (PAC), in bits that addresses do not use. */
#ifndef MT_FRAME_H
#define MT_FRAME_H

#include "base/os.h"

/* Where a walk starts: the caller of a hook. */
struct mt_frame {
    uintptr_t pc; /* return address into the caller */
    uintptr_t sp; /* the caller's stack pointer just after that return */
    uintptr_t fp; /* the caller's frame pointer */
#if !defined(__x86_64__)
    uintptr_t pc_slot; /* where pc was read from; 0: nobody knows */
    /* Not 0: code of the hook that was called. Only its unwind rule tells sp, which until then is
     * the address of the hook's frame record: mt_frame_of_caller (unwind_hook.h). */
    uintptr_t hook_pc;
#endif
};

/* The frame that called the function in which this stands. The function must keep its own frame
 * pointer, as all of this library does. */
#if defined(__x86_64__)
#    define MT_CALLER_FRAME()                                                                      \
        ((struct mt_frame){(uintptr_t)__builtin_return_address(0),                                 \
                           (uintptr_t)__builtin_frame_address(0) + 16,                             \
                           *(uintptr_t *)__builtin_frame_address(0)})

/* Where the pc of a frame was read from. */
static inline uintptr_t mt_pc_slot(const struct mt_frame *frame) {
    return frame->sp - 8;
}

/* Where the frame pointer of the caller of a hook was read from: the hook pushed it there. */
static inline uintptr_t mt_fp_slot_in_hook(const struct mt_frame *caller) {
    return caller->sp - 16;
}

/* Notes where it was read from. Returns whether that is another place than was noted before. */
static inline bool mt_note_pc_slot(struct mt_frame *frame, uintptr_t slot) {
    (void)frame, (void)slot;
    return false;
}

/* The return address that a word of the stack holds. */
static inline uintptr_t mt_return_address_in(uintptr_t word) {
    return word;
}

#else
#    define MT_CALLER_FRAME()                                                                      \
        ((struct mt_frame){                                                                        \
            (uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0),         \
            *(uintptr_t *)__builtin_frame_address(0), (uintptr_t)__builtin_frame_address(0) + 8,   \
            mt_code_behind(__builtin_frame_address(0))})

/* An address of the code around, where the frame record is written: its place is an operand. */
static inline __attribute__((always_inline)) uintptr_t mt_code_behind(const void *record) {
    uintptr_t pc;
    __asm__("adr %0, ." : "=r"(pc) : "r"(record));
    return pc;
}

static inline uintptr_t mt_pc_slot(const struct mt_frame *frame) {
    return frame->pc_slot;
}

static inline uintptr_t mt_fp_slot_in_hook(const struct mt_frame *caller) {
    return caller->pc_slot - 8;
}

static inline bool mt_note_pc_slot(struct mt_frame *frame, uintptr_t slot) {
    bool has_moved = frame->pc_slot != slot;
    frame->pc_slot = slot;
    return has_moved;
}

/* `hint 7` is XPACLRI, which strips the signature of x30, and does nothing where none can be. */
static inline uintptr_t mt_return_address_in(uintptr_t word) {
    register uintptr_t link __asm__("x30") = word;
    __asm__("hint 7" : "+r"(link));
    return link;
}

#endif

#endif
