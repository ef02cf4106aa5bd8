/* Backtraces of the traced process, as stack ids.
 *
 * Three layers, each giving the frames that libunwind's unw_backtrace gives:
 *
 *  1. The stack cache of the thread: its last stack, root first. The walk goes from the leaf until
 *     it meets a cached frame with the same stack pointer, pc and frame pointer; if every slot
 *     the older frames were read from still holds what it held, they are the same frames. This is
 *     exact, not a guess: unwinding a frame depends on nothing else (unwind_rules.h).
 *  2. The rules of .eh_frame, for the frames that are new.
 *  3. libunwind (libunwind_backend.h), for stacks with a frame that the rules decline: signal
 *     frames, PLT stubs, code made at run time. */
#ifndef MT_UNWIND_H
#define MT_UNWIND_H

#include "memtrace_format.h"
#include "os.h"
#include "stack_table.h"

/* Where a walk starts: the caller of a hook. */
struct mt_frame {
    uintptr_t pc; /* return address into the caller */
    uintptr_t sp; /* the caller's stack pointer just after that return */
    uintptr_t fp; /* the caller's frame pointer */
};

/* The frame that called the function in which this stands. The function must keep its own frame
 * pointer, as all of this library does. */
#if defined(__x86_64__)
#    define MT_CALLER_FRAME()                                                                      \
        ((struct mt_frame){(uintptr_t)__builtin_return_address(0),                                 \
                           (uintptr_t)__builtin_frame_address(0) + 16,                             \
                           *(uintptr_t *)__builtin_frame_address(0)})
#else
#    define MT_CALLER_FRAME()                                                                      \
        ((struct mt_frame){(uintptr_t)__builtin_return_address(0),                                 \
                           (uintptr_t)__builtin_frame_address(0),                                  \
                           *(uintptr_t *)__builtin_frame_address(0)})
#endif

struct mt_cached_frame {
    struct mt_frame frame;
    uintptr_t fp_slot; /* where frame.fp was read from; 0: it was its callee's, unchanged */
    uint64_t hash;     /* of the path from the root to here */
};

struct mt_address_range {
    uintptr_t low, high;
};

/* Per thread, in memory of the recorder. Zero-initialised is valid. */
struct mt_unwinder {
    struct mt_address_range own_stack;      /* of the thread: stack_bounds.h */
    struct mt_address_range other_stack;    /* the one it was last met on: a fiber's, a handler's */
    uint32_t cached;                        /* frames in cache */
    uint64_t root_hash;                     /* mt_stack_root_hash(false) of the cached frames */
    uint64_t generation;                    /* mt_image_map_generation of the cached frames */
    uintptr_t pcs[MT_STACK_DEPTH_MAX + 32]; /* scratch, leaf first */
    uint64_t hashes[MT_STACK_DEPTH_MAX];
    struct mt_cached_frame fresh[MT_STACK_DEPTH_MAX + 1];
    struct mt_cached_frame cache[MT_STACK_DEPTH_MAX]; /* root first */
};

/* Options: set before recording starts. */
extern uint32_t mt_unwind_depth;
extern bool mt_unwind_only_libunwind;
extern bool mt_unwind_compares; /* walk every stack both ways: unwind_compare.h */

/* Takes the stack that starts at `leaf`.
 *
 * returns  its id; MT_STACK_NONE when there is none (counted in the file header)
 * errors   errno untouched
 * context  inside a hook, on the thread that owns `unwinder` */
uint32_t mt_unwind_capture(struct mt_unwinder *unwinder, struct mt_frame leaf);

#endif
