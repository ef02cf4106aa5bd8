/* See pausing.h. */
#include "events/pausing.h"

#include "base/moment.h"
#include "base/tls.h"
#include "memtrace_live.h"
#include "trace/meta_writer.h"
#include "trace/trace_descriptor.h"
#include "trace/trace_file.h"
#include <string.h>

bool mt_pausing_is_possible;
/* What the header said last: its mapping is missing in a forked child. */
static bool g_was_paused;

void mt_pausing_init(bool can_pause) {
    mt_pausing_is_possible = can_pause;
    g_was_paused = can_pause;
}

static struct mt_file_header *header(void) {
    return __atomic_load_n(&mt_trace_file.header, __ATOMIC_ACQUIRE);
}

bool mt_pausing_is_paused(void) {
    const struct mt_file_header *now = header();
    bool is_paused = !now || mt_live_is_paused(now);
    if (is_paused != __atomic_load_n(&g_was_paused, __ATOMIC_RELAXED))
        __atomic_store_n(&g_was_paused, is_paused, __ATOMIC_RELAXED);
    return is_paused;
}

bool mt_pausing_rests_always(void) {
    if (!mt_pausing_is_possible || *mt_generation == 0)
        return false;
    const struct mt_file_header *now = header();
    return now && __atomic_load_n(&now->resumed, __ATOMIC_RELAXED) == 0;
}

static void note(uint64_t time, uint32_t thread, bool is_paused) {
    struct mt_switch_record record = {.time = time, .thread = thread, .is_paused = is_paused};
    struct mt_piece piece = {&record, sizeof record};
    mt_meta_write(MT_RECORD_SWITCH, &piece, 1);
}

int mt_pausing_open_parent(void) {
    if (!mt_pausing_is_possible || g_was_paused)
        return -1;
    long fd = mt_os_open_regular(MT_AT_CWD, mt_trace_file.path);
    return fd < 0 ? -1 : (int)fd;
}

static bool is_parent_paused(int parent) {
    static struct mt_file_header theirs; /* a stack may have 16 KiB */
    size_t size = offsetof(struct mt_file_header, resumed);
    return parent >= 0 && mt_os_pread(parent, &theirs, size, 0) == (long)size &&
           memcmp(theirs.trace_id, header()->parent_trace_id, 16) == 0 &&
           mt_live_is_paused(&theirs);
}

static void switch_after_fork(int parent) {
    if (!mt_pausing_is_possible || g_was_paused || !header() || is_parent_paused(parent))
        return;
    uint64_t time = mt_moment();
    if (mt_live_set_paused(header(), false))
        note(time, 0, false);
    if (is_parent_paused(parent) && mt_live_set_paused(header(), true))
        note(mt_moment(), 0, true);
}

void mt_pausing_after_fork(int parent) {
    switch_after_fork(parent);
    if (parent >= 0)
        mt_os_close(parent);
}

/* All that is recorded lies between the times of a resume and of a pause: one is taken before the
 * switch, the other after it. */
void mt_pausing_set(bool is_paused) {
    if (!mt_pausing_is_possible || !header())
        return;
    uint64_t time = mt_moment();
    if (!mt_live_set_paused(header(), is_paused))
        return;
    if (!is_paused) /* nobody from outside */
        mt_live_set_held(header(), false);
    note(is_paused ? mt_moment() : time, mt_tls.index, is_paused);
    g_was_paused = is_paused;
}

void mt_pausing_look_for_holder(void) {
    if (!mt_pausing_is_possible || !header() || !mt_live_is_held(header()) ||
        mt_live_is_paused(header()))
        return;
    struct mt_trace_descriptor trace = mt_trace_descriptor_borrow(mt_trace_file.path);
    bool is_left = trace.fd >= 0 && mt_os_is_locked(trace.fd, offsetof(struct mt_file_header, held),
                                                    sizeof header()->held) == 0;
    mt_trace_descriptor_give_back(trace);
    if (is_left)
        mt_pausing_set(true);
}
