/* What the program's own allocators call to announce their blocks: the functions of memtrace.h, and
 * those of heaptrack's API that do the same, by their names. */
#define _GNU_SOURCE
#include "events/announcing.h"
#include "events/hook.h"

void MT_HOOK_NAME(memtrace_allocated)(const void *, size_t);
void MT_HOOK_NAME(memtrace_freed)(const void *);
void MT_HOOK_NAME(heaptrack_malloc)(void *, size_t);
void MT_HOOK_NAME(heaptrack_realloc)(void *, size_t, void *);
void MT_HOOK_NAME(heaptrack_free)(void *);

/* Inlined, as the next one, so that it sees the frame of the hook's caller. */
MT_INLINE void begin_block(const void *block, size_t size) {
    if (!block)
        return;
    MT_BEGIN_CALL(MT_OP_ANNOUNCED);
    mt_announce_block(&call, block, size);
    mt_leave(call.entry);
}

MT_INLINE void end_block(const void *block) {
    if (!block)
        return;
    MT_BEGIN_CALL(MT_OP_ANNOUNCED_END);
    mt_announce_end(&call, block);
    mt_leave(call.entry);
}

MT_HOOK void MT_HOOK_NAME(memtrace_allocated)(const void *block, size_t size) {
    begin_block(block, size);
}

MT_HOOK void MT_HOOK_NAME(memtrace_freed)(const void *block) {
    end_block(block);
}

MT_HOOK void MT_HOOK_NAME(heaptrack_malloc)(void *block, size_t size) {
    begin_block(block, size);
}

MT_HOOK void MT_HOOK_NAME(heaptrack_realloc)(void *block, size_t size, void *moved) {
    end_block(block);
    begin_block(moved, size);
}

MT_HOOK void MT_HOOK_NAME(heaptrack_free)(void *block) {
    end_block(block);
}
