/* See pausing.h. */
#include "events/pausing.h"

#include "base/moment.h"
#include "base/tls.h"
#include "memtrace_live.h"
#include "trace/meta_writer.h"
#include "trace/trace_file.h"

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

void mt_pausing_after_fork(void) {
    if (!mt_pausing_is_possible || g_was_paused)
        return;
    uint64_t time = mt_moment();
    if (header() && mt_live_set_paused(header(), 0))
        note(time, 0, false);
}

/* All that is recorded lies between the times of a resume and of a pause: one is taken before the
 * switch, the other after it. */
void mt_pausing_set(bool is_paused) {
    if (!mt_pausing_is_possible || !header())
        return;
    uint64_t time = mt_moment();
    if (!mt_live_set_paused(header(), is_paused))
        return;
    note(is_paused ? mt_moment() : time, mt_tls.index, is_paused);
    g_was_paused = is_paused;
}
