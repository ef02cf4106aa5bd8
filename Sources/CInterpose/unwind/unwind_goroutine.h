/* The callers of C code that Go calls. x86_64.
 *
 * Go runs C functions on the thread's stack, below the assembly of runtime.asmcgocall, while their
 * caller waits on the stack of its goroutine, in other memory. Go has no unwind tables; its
 * functions keep frame pointers. What leads over is what the assembly itself needs to go back
 * (src/runtime/asm_amd64.s, asmcgocall): next to each other, in the few words above its stack
 * pointer, how far below the top of the goroutine's stack it was called, and the address of the
 * goroutine (g), which begins with the bounds of its stack. */
#ifndef MT_UNWIND_GOROUTINE_H
#define MT_UNWIND_GOROUTINE_H

#include "unwind/unwinder.h"

/* Whether the frame of code without table, which looks like the outermost of the stack, is such
 * assembly: what it keeps leads to a return address in code without table.
 *
 * stack    holds the frame
 * context  as mt_unwind_capture; a few system calls */
bool mt_goroutine_waits(const struct mt_frame *frame, struct mt_address_range *stack,
                        struct mt_goroutine *waiting);

/* The frames of a goroutine from its waiting one on, as return addresses.
 *
 * capacity    of pcs
 * lacks_root  set: the last is not its outermost; nobody knows what called it, or there are more
 *
 * returns  how many
 * context  as mt_unwind_capture; a few system calls */
uint32_t mt_goroutine_frames(const struct mt_goroutine *waiting, uintptr_t *pcs, uint32_t capacity,
                             bool *lacks_root);

#endif
