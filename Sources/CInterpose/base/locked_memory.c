/* See locked_memory.h. */
#include "base/locked_memory.h"

#include "base/os.h"
#include "base/os_call.h"
#include "base/own_memory.h"
#include "base/proc_maps.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { ON_FAULT = 1 }; /* include/uapi/asm-generic/mman-common.h, MLOCK_ONFAULT */

struct range {
    uintptr_t start, end;
};

static struct range g_left_out;

void mt_locked_memory_leave_out(uintptr_t start, uintptr_t end) {
    __atomic_store_n(&g_left_out.end, 0, __ATOMIC_RELAXED); /* a range that overlaps with nothing */
    __atomic_store_n(&g_left_out.start, start, __ATOMIC_RELEASE);
    __atomic_store_n(&g_left_out.end, end, __ATOMIC_RELEASE);
}

static struct range left_out(void) {
    uintptr_t end = __atomic_load_n(&g_left_out.end, __ATOMIC_ACQUIRE);
    return (struct range){__atomic_load_n(&g_left_out.start, __ATOMIC_RELAXED), end};
}

static void let_go(uintptr_t start, uintptr_t end) {
    CALL(SYS_munlock, start, end - start, 0, 0, 0, 0);
}

void mt_locked_memory_let_go(int flags) {
    mt_os_unlocks_pages = (flags & MCL_FUTURE) != 0;
    mt_own_memory_visit(let_go);
    struct range range = left_out();
    if (range.start < range.end)
        let_go(range.start, range.end);
}

static bool is_left_out(const struct mt_map_line *line) {
    struct range range = left_out();
    return (line->start < range.end && range.start < line->end) ||
           mt_own_memory_overlaps(line->start, line->end);
}

/* Calls a function for each mapping that is not ours. Returns their bytes, or UINT64_MAX. */
static uint64_t visit_others(void (*visit)(const struct mt_map_line *line, int flags), int flags) {
    struct mt_maps_reader *reader = mt_os_map_pages(sizeof *reader);
    uint64_t bytes = UINT64_MAX;
    if (reader && mt_maps_open(reader) == 0) {
        struct mt_map_line line;
        bytes = 0;
        while (mt_maps_next(reader, &line))
            if (!is_left_out(&line)) {
                bytes += line.end - line.start;
                if (visit)
                    visit(&line, flags);
            }
        mt_maps_close(reader);
    }
    if (reader)
        mt_os_unmap_pages(reader, sizeof *reader);
    return bytes;
}

/* What cannot be locked (the kernel's own) is passed over, as mlockall does. */
static void lock(const struct mt_map_line *line, int flags) {
    CALL(SYS_mlock2, line->start, line->end - line->start, flags & MCL_ONFAULT ? ON_FAULT : 0, 0, 0,
         0);
}

bool mt_locked_memory_lock_others(int flags) {
    if (visit_others(NULL, 0) > mt_os_limit(RLIMIT_MEMLOCK))
        return false;
    if ((flags & MCL_FUTURE) && CALL(SYS_mlockall, flags & ~MCL_CURRENT, 0, 0, 0, 0, 0) < 0)
        return false;
    mt_locked_memory_let_go(flags);
    visit_others(lock, flags);
    return true;
}
