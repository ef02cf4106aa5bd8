/* The malloc family. */
#define _GNU_SOURCE
#include "events/hook.h"
#include "events/record_event.h"
#include "trace/trace_file.h"
#include "types/swift_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *MT_HOOK_NAME(malloc)(size_t);
void *MT_HOOK_NAME(calloc)(size_t, size_t);
void *MT_HOOK_NAME(realloc)(void *, size_t);
void *MT_HOOK_NAME(reallocarray)(void *, size_t, size_t);
void MT_HOOK_NAME(free)(void *);
void MT_HOOK_NAME(cfree)(void *);
int MT_HOOK_NAME(posix_memalign)(void **, size_t, size_t);
void *MT_HOOK_NAME(aligned_alloc)(size_t, size_t);
void *MT_HOOK_NAME(memalign)(size_t, size_t);
void *MT_HOOK_NAME(valloc)(size_t);
void *MT_HOOK_NAME(pvalloc)(size_t);
size_t MT_HOOK_NAME(malloc_usable_size)(void *);
void MT_HOOK_NAME(free_sized)(void *, size_t);
void MT_HOOK_NAME(free_aligned_sized)(void *, size_t, size_t);

/* reallocarray of more than there can be: fails before any allocator is asked. */
static void *overflow(struct mt_call *call, const void *block) {
    if (!block)
        mt_note_allocation(call, NULL, SIZE_MAX, 0);
    mt_leave(call->entry);
    errno = ENOMEM;
    return NULL;
}

MT_RECORDING_HALF static void *record_malloc(size_t size) {
    if (mt_sampling_rests())
        return mt_real.malloc(size);
    MT_BEGIN_CALL(MT_OP_MALLOC);
    if (mt_serves_from_arena(&call))
        return mt_arena_allocate(size, 16);
    void *block = mt_real.malloc(size);
    mt_hidden_block hidden = mt_hide_block(block);
    if (mt_records_allocation(&call, block, size))
        mt_record_allocation_here(&call, block, size, 0);
    mt_leave(call.entry);
    return mt_show_block(hidden);
}

MT_HOOK void *MT_HOOK_NAME(malloc)(size_t size) {
    if (mt_sampling_skips(size))
        return mt_real.malloc(size);
    MT_TAIL_CALL record_malloc(size);
}

MT_RECORDING_HALF static void *record_calloc(size_t count, size_t size) {
    if (mt_sampling_rests())
        return mt_real.calloc(count, size);
    MT_BEGIN_CALL(MT_OP_CALLOC);
    if (mt_serves_from_arena(&call))
        return mt_arena_allocate_zeroed(count, size);
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        total = SIZE_MAX;
    return mt_end_allocation(&call, mt_real.calloc(count, size), total, 0);
}

MT_HOOK void *MT_HOOK_NAME(calloc)(size_t count, size_t size) {
    size_t total;
    if (!__builtin_mul_overflow(count, size, &total) && mt_sampling_skips(total))
        return mt_real.calloc(count, size);
    MT_TAIL_CALL record_calloc(count, size);
}

/* A block of the arena cannot be grown by the real allocator: it moves out. */
static void *move_out_of_arena(void *block, size_t size) {
    void *moved = mt_is_early() ? mt_arena_allocate(size, 16) : MT_HOOK_NAME(malloc)(size);
    size_t old_size = mt_arena_size(block);
    if (moved)
        memcpy(moved, block, old_size < size ? old_size : size);
    return moved;
}

MT_COLD static void *grow_sampled(struct mt_call *call, void *block, size_t size) {
    bool was_taken = !mt_sampling_ignores(block);
    struct mt_call begin = *call;
    begin.operation = MT_OP_REALLOC_BEGIN;
    if (was_taken)
        mt_record_deallocation(&begin, block, 0, 0);
    void *moved = mt_real.realloc(block, size);
    mt_note_resized(call, was_taken, block, moved, size);
    mt_leave(call->entry);
    return moved;
}

static void *grow(struct mt_call *call, void *block, size_t size) {
    if (call->entry == MT_ENTRY_PASS)
        return mt_real.realloc(block, size);
    if (mt_unlikely(mt_sampling_selects))
        return grow_sampled(call, block, size);
    call->operation = MT_OP_REALLOC_BEGIN;
    mt_record_deallocation(call, block, 0, 0);
    void *moved = mt_real.realloc(block, size);
    mt_note_place(block, moved);
    mt_record_realloc_end(call, moved, size);
    mt_leave(call->entry);
    return moved;
}

/* realloc(p, 0): glibc frees and returns NULL; other allocators return a block of no bytes. */
static void *shrink_to_nothing(struct mt_call *call, void *block) {
    if (call->entry == MT_ENTRY_PASS)
        return mt_real.realloc(block, 0);
    call->operation = MT_OP_REALLOC_FREE;
    mt_note_deallocation(call, block, 0, 0);
    void *moved = mt_real.realloc(block, 0);
    call->operation = MT_OP_REALLOC;
    if (moved)
        mt_note_allocation(call, moved, 0, 0);
    mt_leave(call->entry);
    return moved;
}

static inline void *reallocate(struct mt_call *call, void *block, size_t size) {
    if (!block)
        return mt_end_allocation(call, mt_real.realloc(NULL, size), size, 0);
    return size == 0 ? shrink_to_nothing(call, block) : grow(call, block, size);
}

MT_RECORDING_HALF static void *record_realloc(void *block, size_t size) {
    if (mt_unlikely(mt_arena_owns(block)))
        return move_out_of_arena(block, size);
    if (mt_sampling_leaves_out(block) && (mt_sampling_skips(size) || mt_sampling_rests()))
        return mt_real.realloc(block, size);
    MT_BEGIN_CALL(MT_OP_REALLOC);
    if (mt_is_early())
        return mt_arena_allocate(size, 16);
    return reallocate(&call, block, size);
}

MT_HOOK void *MT_HOOK_NAME(realloc)(void *block, size_t size) {
    if (mt_sampling_skips_realloc(block, size))
        return mt_real.realloc(block, size);
    MT_TAIL_CALL record_realloc(block, size);
}

MT_HOOK void *MT_HOOK_NAME(reallocarray)(void *block, size_t count, size_t size) {
    size_t total;
    bool is_too_much = __builtin_mul_overflow(count, size, &total);
    if (mt_unlikely(mt_arena_owns(block)) && !is_too_much)
        return move_out_of_arena(block, total);
    MT_BEGIN_CALL(MT_OP_REALLOCARRAY);
    if (is_too_much)
        return overflow(&call, block);
    if (mt_is_early())
        return mt_arena_allocate(total, 16);
    return reallocate(&call, block, total);
}

/* Inlined, so that it sees the frame of the hook's caller. */
MT_INLINE void end_block(void *block, uint8_t operation) {
    if (!block || mt_unlikely(mt_arena_owns(block)))
        return;
    if (mt_sampling_leaves_out(block)) {
        mt_real.free(block);
        return;
    }
    MT_BEGIN_CALL(operation);
    if (mt_is_early())
        return; /* not from the arena, and nobody to give it to */
    if (mt_records_deallocation(&call, block))
        mt_record_deallocation_here(&call, block, 0, 0);
    mt_real.free(block);
    mt_leave(call.entry);
}

MT_RECORDING_HALF static void record_free(void *block) {
    end_block(block, MT_OP_FREE);
}

MT_HOOK void MT_HOOK_NAME(free)(void *block) {
    if (!mt_sampling_surely_ignores(block))
        MT_TAIL_CALL record_free(block);
    mt_real.free(block);
}

MT_HOOK void MT_HOOK_NAME(cfree)(void *block) {
    end_block(block, MT_OP_CFREE);
}

/* C23 sized frees: forwarded to free where the C library does not have them. */
MT_HOOK void MT_HOOK_NAME(free_sized)(void *block, size_t size) {
    if (!block || mt_unlikely(mt_arena_owns(block)))
        return;
    MT_BEGIN_CALL(MT_OP_FREE_SIZED);
    if (mt_is_early())
        return;
    mt_note_deallocation(&call, block, size, 0);
    if (mt_real.free_sized)
        mt_real.free_sized(block, size);
    else
        mt_real.free(block);
    mt_leave(call.entry);
}

MT_HOOK void MT_HOOK_NAME(free_aligned_sized)(void *block, size_t alignment, size_t size) {
    if (!block || mt_unlikely(mt_arena_owns(block)))
        return;
    MT_BEGIN_CALL(MT_OP_FREE_ALIGNED_SIZED);
    if (mt_is_early())
        return;
    mt_note_deallocation(&call, block, size, alignment);
    if (mt_real.free_aligned_sized)
        mt_real.free_aligned_sized(block, alignment, size);
    else
        mt_real.free(block);
    mt_leave(call.entry);
}

MT_RECORDING_HALF static int record_posix_memalign(void **result, size_t alignment, size_t size) {
    if (mt_real.posix_memalign && mt_sampling_rests())
        return mt_real.posix_memalign(result, alignment, size);
    MT_BEGIN_CALL(MT_OP_POSIX_MEMALIGN);
    if (mt_is_early() || !mt_real.posix_memalign) {
        *result = mt_arena_allocate(size, alignment);
        mt_leave(call.entry);
        return *result ? 0 : ENOMEM;
    }
    /* EINVAL is no failed allocation, and *result is only written on success. */
    int error = mt_real.posix_memalign(result, alignment, size);
    if (mt_likely(error != EINVAL))
        mt_note_allocation(&call, error == 0 ? *result : NULL, size, alignment);
    mt_leave(call.entry);
    return error;
}

/* Sampling skips calls before it is known whether their arguments are valid: those that are not
 * shorten the way to the next point, which makes no block more likely. */
MT_HOOK int MT_HOOK_NAME(posix_memalign)(void **result, size_t alignment, size_t size) {
    if (mt_real.posix_memalign && mt_sampling_skips(size))
        return mt_real.posix_memalign(result, alignment, size);
    MT_TAIL_CALL record_posix_memalign(result, alignment, size);
}

MT_RECORDING_HALF static void *record_aligned_alloc(size_t alignment, size_t size) {
    if (mt_sampling_rests())
        return mt_real.aligned_alloc(alignment, size);
    MT_BEGIN_CALL(MT_OP_ALIGNED_ALLOC);
    if (mt_is_early())
        return mt_arena_allocate(size, alignment);
    return mt_end_allocation(&call, mt_real.aligned_alloc(alignment, size), size, alignment);
}

MT_HOOK void *MT_HOOK_NAME(aligned_alloc)(size_t alignment, size_t size) {
    if (mt_sampling_skips(size))
        return mt_real.aligned_alloc(alignment, size);
    MT_TAIL_CALL record_aligned_alloc(alignment, size);
}

MT_RECORDING_HALF static void *record_memalign(size_t alignment, size_t size) {
    if (mt_sampling_rests())
        return mt_real.memalign(alignment, size);
    MT_BEGIN_CALL(MT_OP_MEMALIGN);
    if (mt_is_early())
        return mt_arena_allocate(size, alignment);
    return mt_end_allocation(&call, mt_real.memalign(alignment, size), size, alignment);
}

MT_HOOK void *MT_HOOK_NAME(memalign)(size_t alignment, size_t size) {
    if (mt_sampling_skips(size))
        return mt_real.memalign(alignment, size);
    MT_TAIL_CALL record_memalign(alignment, size);
}

MT_HOOK void *MT_HOOK_NAME(valloc)(size_t size) {
    MT_BEGIN_CALL(MT_OP_VALLOC);
    if (mt_is_early())
        return mt_arena_allocate(size, MT_PAGE_SIZE);
    return mt_end_allocation(&call, mt_real.valloc(size), size, 0);
}

MT_HOOK void *MT_HOOK_NAME(pvalloc)(size_t size) {
    MT_BEGIN_CALL(MT_OP_PVALLOC);
    if (mt_is_early())
        return mt_arena_allocate(size, MT_PAGE_SIZE);
    return mt_end_allocation(&call, mt_real.pvalloc(size), size, 0);
}

MT_RECORDING_HALF static size_t find_usable_size(void *block) {
    if (!block)
        return 0;
    if (mt_arena_owns(block))
        return mt_arena_size(block);
    if (!mt_real.malloc_usable_size)
        mt_enter_slow((uintptr_t)__builtin_frame_address(0));
    size_t size = mt_real.malloc_usable_size ? mt_real.malloc_usable_size(block) : 0;
    mt_trace_file_note_usable_size(mt_is_like_swift_object(block, size));
    return size;
}

/* No event: exported because a block of the arena must not reach the real one. */
MT_HOOK size_t MT_HOOK_NAME(malloc_usable_size)(void *block) {
    if (mt_trace_file_usable_sizes != MT_USABLE_ANY || mt_arena_owns(block) ||
        !mt_real.malloc_usable_size)
        MT_TAIL_CALL find_usable_size(block);
    return mt_real.malloc_usable_size(block);
}
