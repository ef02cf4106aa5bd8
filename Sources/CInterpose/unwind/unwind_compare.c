/* Compares our stacks with libunwind's. See unwind_compare.h. */
#include "unwind/unwind_compare.h"

#include "base/lock.h"
#include "base/text.h"
#include "trace/meta_writer.h"
#include "trace/trace_file.h"
#include "unwind/debug_frame.h"
#include "unwind/unwind_rules.h"
#include <string.h>

enum { MOST_NOTES = 16 };

static void add_frames(struct mt_text *text, const char *title, struct mt_kept_frames frames) {
    mt_text_add(text, title);
    for (uint32_t i = 0; i < frames.count; i++) {
        uint8_t bytes[8];
        for (int byte = 0; byte < 8; byte++)
            bytes[byte] = (uint8_t)(frames.pcs[i] >> (56 - 8 * byte));
        mt_text_add(text, " ");
        mt_text_add_hex(text, bytes + 2, 6);
    }
}

static void note(struct mt_kept_frames ours, struct mt_kept_frames theirs) {
    static uint32_t notes;
    if (__atomic_fetch_add(&notes, 1, __ATOMIC_RELAXED) >= MOST_NOTES)
        return;
    static char buffer[4096];
    static struct mt_lock lock;
    uint64_t signals = mt_lock_enter(&lock);
    struct mt_text text = mt_text_begin(buffer, sizeof buffer);
    add_frames(&text, "stacks differ; ours:", ours);
    add_frames(&text, "; libunwind's:", theirs);
    mt_meta_note(MT_NOTE_TEXT, 0, buffer);
    mt_lock_exit(&lock, signals);
}

/* Whether libunwind has no table that covers a return address. */
static bool is_guess(uintptr_t return_address) {
    return mt_rule_is_missing(mt_rule_for(return_address)) ||
           mt_debug_frame_covers(return_address - 1);
}

/* True when the two part above a frame whose caller no table in memory tells: what libunwind has
 * there is a guess, and depends on what it met at that address before (docs/unwinding.md). */
static bool is_about_guess(struct mt_kept_frames ours, struct mt_kept_frames theirs) {
    for (uint32_t i = 0; i < ours.count && i < theirs.count; i++) {
        if (ours.pcs[i] != theirs.pcs[i])
            return false;
        if (is_guess(mt_stack_unmarked(ours.pcs[i])))
            return true;
    }
    return false;
}

void mt_unwind_compare(struct mt_kept_frames ours, struct mt_kept_frames theirs) {
    mt_trace_file_count(MT_COUNT_STACKS_COMPARED, 1);
    if (ours.count == theirs.count &&
        memcmp(ours.pcs, theirs.pcs, ours.count * sizeof *ours.pcs) == 0)
        return;
    mt_trace_file_count(is_about_guess(ours, theirs) ? MT_COUNT_STACKS_GUESS_DIFFERENT
                                                     : MT_COUNT_STACKS_DIFFERENT,
                        1);
    note(ours, theirs);
}
