/* The frame pointer of code without unwind tables: what a JIT compiler has written. x86_64.
 *
 * Such code may keep a frame pointer in rbp, or anything else. That it is one is taken for proven
 * when the chain leads back to a call instruction in ordinary code; between code without tables
 * there are returns to where no call is (interpreters that jump, patched return addresses), so
 * that frames on the way there are doubtful. A wrong frame is worse than none. */
#ifndef MT_UNWIND_FRAME_POINTER_H
#define MT_UNWIND_FRAME_POINTER_H

#include "unwind/unwinder.h"

/* A frame is hardly larger, and libunwind follows no larger one either. */
#define MT_LARGEST_GUESSED_FRAME 0x4000u

/* True when rbp points to where the caller's could have been saved. */
static inline bool mt_frame_pointer_is_near(const struct mt_frame *frame) {
    return frame->fp - frame->sp <= MT_LARGEST_GUESSED_FRAME;
}

enum mt_frame_pointer {
    MT_FRAME_POINTER_NONE,        /* rbp is no frame pointer; *caller may have been written to */
    MT_FRAME_POINTER_DOUBTFUL,    /* returns to where no call is, or into code in no image */
    MT_FRAME_POINTER_BEHIND_CALL, /* returns into code of an image without table, behind a call */
    MT_FRAME_POINTER_PROVEN,      /* returns into ordinary code, behind a call */
};

/* The caller of a frame whose rbp points into the stack, not far above its stack pointer, to a
 * saved rbp and a return address.
 *
 * context  as mt_unwind_capture; a few system calls */
enum mt_frame_pointer mt_frame_pointer_caller(const struct mt_frame *frame,
                                              struct mt_address_range *stack,
                                              struct mt_cached_frame *caller);

#endif
