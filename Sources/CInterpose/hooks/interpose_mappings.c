/* Calls that map memory, unmap it, or change what may be done with it (mappings.h).
 *
 * In two halves (hook.h): where nothing is asked for, a call costs one more jump. Without the C
 * library's header for mremap, which takes its last argument only with some flags. */
#include "events/hook.h"

#include "base/os_call.h"
#include "mappings/mappings.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *MT_HOOK_NAME(mmap)(void *, size_t, int, int, int, off_t);
void *MT_HOOK_NAME(mmap64)(void *, size_t, int, int, int, off_t);
int MT_HOOK_NAME(munmap)(void *, size_t);
void *MT_HOOK_NAME(mremap)(void *, size_t, size_t, int, void *);
int MT_HOOK_NAME(mprotect)(void *, size_t, int);
int MT_HOOK_NAME(brk)(void *);
void *MT_HOOK_NAME(sbrk)(intptr_t);

/* The C library's own, by a name that nobody has hooks for. */
void *__sbrk(intptr_t change);

/* Before the real functions are known, the kernel is asked (mt_ask_kernel). */
#define IS_EARLY(name) mt_unlikely(!mt_real.name)

static size_t whole_pages(size_t length) {
    return (length + MT_PAGE_SIZE - 1) & ~(size_t)(MT_PAGE_SIZE - 1);
}

/* ---- mmap ---- */

MT_RECORDING_HALF static void *recorded_mmap(void *address, size_t length, int protection,
                                             int flags, int descriptor, off_t offset) {
    struct mt_frame caller = MT_CALLER_FRAME();
    struct mt_mapping_record mapping = mt_mapping_call(MT_MAPPING_MMAP);
    void *result = mt_real.mmap(address, length, protection, flags, descriptor, offset);
    if (result == MAP_FAILED)
        return result;
    mapping.address = (uintptr_t)result;
    mapping.length = whole_pages(length);
    mapping.protection = (uint32_t)protection;
    mapping.flags = (uint32_t)flags;
    mapping.offset = (uint64_t)offset;
    mt_mapping_write(&mapping, &caller, flags & MAP_ANONYMOUS ? -1 : descriptor);
    return result;
}

#define MT_MAPPER(name)                                                                            \
    MT_HOOK void *MT_HOOK_NAME(name)(void *address, size_t length, int protection, int flags,      \
                                     int descriptor, off_t offset) {                               \
        if (IS_EARLY(name))                                                                        \
            return (void *)mt_ask_kernel(SYS_mmap, (long)address, (long)length, protection, flags, \
                                         descriptor, offset);                                      \
        if (mt_unlikely(mt_mappings_are_recorded))                                                 \
            MT_TAIL_CALL recorded_mmap(address, length, protection, flags, descriptor, offset);    \
        MT_TAIL_CALL mt_real.name(address, length, protection, flags, descriptor, offset);         \
    }

MT_MAPPER(mmap)
MT_MAPPER(mmap64)

/* ---- munmap ---- */

MT_RECORDING_HALF static int recorded_munmap(void *address, size_t length) {
    struct mt_frame caller = MT_CALLER_FRAME();
    struct mt_mapping_record mapping = mt_mapping_call(MT_MAPPING_MUNMAP);
    int result = mt_real.munmap(address, length);
    if (result != 0)
        return result;
    mapping.ended = (uintptr_t)address;
    mapping.ended_length = whole_pages(length);
    mt_mapping_write(&mapping, &caller, -1);
    return result;
}

MT_HOOK int MT_HOOK_NAME(munmap)(void *address, size_t length) {
    if (IS_EARLY(munmap))
        return (int)mt_ask_kernel(SYS_munmap, (long)address, (long)length, 0, 0, 0, 0);
    if (mt_unlikely(mt_mappings_are_recorded))
        MT_TAIL_CALL recorded_munmap(address, length);
    MT_TAIL_CALL mt_real.munmap(address, length);
}

/* ---- mremap ---- */

/* From linux/mman.h; MREMAP_DONTUNMAP leaves the old addresses mapped, and empty. */
enum { MREMAP_FLAG_DONTUNMAP = 4 };

MT_RECORDING_HALF static void *recorded_mremap(void *address, size_t length, size_t new_length,
                                               int flags, void *new_address) {
    struct mt_frame caller = MT_CALLER_FRAME();
    struct mt_mapping_record mapping = mt_mapping_call(MT_MAPPING_MREMAP);
    void *result = mt_real.mremap(address, length, new_length, flags, new_address);
    if (result == MAP_FAILED)
        return result;
    mapping.ended = (uintptr_t)address;
    mapping.ended_length = flags & MREMAP_FLAG_DONTUNMAP ? 0 : whole_pages(length);
    mapping.address = (uintptr_t)result;
    mapping.length = whole_pages(new_length);
    mapping.flags = (uint32_t)flags;
    mt_mapping_write(&mapping, &caller, -1);
    return result;
}

MT_HOOK void *MT_HOOK_NAME(mremap)(void *address, size_t length, size_t new_length, int flags,
                                   void *new_address) {
    if (IS_EARLY(mremap))
        return (void *)mt_ask_kernel(SYS_mremap, (long)address, (long)length, (long)new_length,
                                     flags, (long)new_address, 0);
    if (mt_unlikely(mt_mappings_are_recorded))
        MT_TAIL_CALL recorded_mremap(address, length, new_length, flags, new_address);
    MT_TAIL_CALL mt_real.mremap(address, length, new_length, flags, new_address);
}

/* ---- mprotect ---- */

MT_RECORDING_HALF static int recorded_mprotect(void *address, size_t length, int protection) {
    struct mt_frame caller = MT_CALLER_FRAME();
    struct mt_mapping_record mapping = mt_mapping_call(MT_MAPPING_PROTECT);
    int result = mt_real.mprotect(address, length, protection);
    if (result != 0)
        return result;
    mapping.address = (uintptr_t)address;
    mapping.length = whole_pages(length);
    mapping.protection = (uint32_t)protection;
    mt_mapping_write(&mapping, &caller, -1);
    return result;
}

MT_HOOK int MT_HOOK_NAME(mprotect)(void *address, size_t length, int protection) {
    if (IS_EARLY(mprotect))
        return (int)mt_ask_kernel(SYS_mprotect, (long)address, (long)length, protection, 0, 0, 0);
    if (mt_unlikely(mt_mappings_are_recorded))
        MT_TAIL_CALL recorded_mprotect(address, length, protection);
    MT_TAIL_CALL mt_real.mprotect(address, length, protection);
}

/* ---- The program break ---- */

static void note_break(struct mt_mapping_record *mapping, const struct mt_frame *caller,
                       uintptr_t before, uintptr_t after) {
    if (after > before) {
        mapping->address = before;
        mapping->length = after - before;
    } else {
        mapping->ended = after;
        mapping->ended_length = before - after;
    }
    mt_mapping_write(mapping, caller, -1);
}

static uintptr_t current_break(void) {
    return (uintptr_t)mt_call6(SYS_brk, 0, 0, 0, 0, 0, 0);
}

MT_RECORDING_HALF static int recorded_brk(void *end) {
    struct mt_frame caller = MT_CALLER_FRAME();
    struct mt_mapping_record mapping = mt_mapping_call(MT_MAPPING_BREAK);
    uintptr_t before = current_break();
    int result = mt_real.brk(end);
    if (result == 0)
        note_break(&mapping, &caller, before, (uintptr_t)end);
    return result;
}

MT_HOOK int MT_HOOK_NAME(brk)(void *end) {
    if (IS_EARLY(brk))
        return __sbrk((intptr_t)end - (intptr_t)__sbrk(0)) == MAP_FAILED ? -1 : 0;
    if (mt_unlikely(mt_mappings_are_recorded))
        MT_TAIL_CALL recorded_brk(end);
    MT_TAIL_CALL mt_real.brk(end);
}

MT_RECORDING_HALF static void *recorded_sbrk(intptr_t change) {
    struct mt_frame caller = MT_CALLER_FRAME();
    struct mt_mapping_record mapping = mt_mapping_call(MT_MAPPING_BREAK);
    void *before = mt_real.sbrk(change);
    if (before != MAP_FAILED && change != 0)
        note_break(&mapping, &caller, (uintptr_t)before, (uintptr_t)before + (uintptr_t)change);
    return before;
}

MT_HOOK void *MT_HOOK_NAME(sbrk)(intptr_t change) {
    if (IS_EARLY(sbrk))
        return __sbrk(change);
    if (mt_unlikely(mt_mappings_are_recorded))
        MT_TAIL_CALL recorded_sbrk(change);
    MT_TAIL_CALL mt_real.sbrk(change);
}
