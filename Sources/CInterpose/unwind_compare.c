/* Compares our stacks with libunwind's. See unwind_compare.h. */
#include "unwind_compare.h"

#include "libunwind_backend.h"
#include "lock.h"
#include "meta_writer.h"
#include "text.h"
#include "trace_file.h"

enum { MOST_NOTES = 16 };

static void add_pcs(struct mt_text *text, const char *title, const uintptr_t *pcs, uint32_t count) {
    mt_text_add(text, title);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t bytes[8];
        for (int byte = 0; byte < 8; byte++)
            bytes[byte] = (uint8_t)(pcs[i] >> (56 - 8 * byte));
        mt_text_add(text, " ");
        mt_text_add_hex(text, bytes + 2, 6);
    }
}

static void note(const uintptr_t *ours, uint32_t count, const uintptr_t *theirs,
                 uint32_t their_count) {
    static uint32_t notes;
    if (__atomic_fetch_add(&notes, 1, __ATOMIC_RELAXED) >= MOST_NOTES)
        return;
    static char buffer[4096];
    static struct mt_lock lock;
    uint64_t signals = mt_lock_enter(&lock);
    struct mt_text text = mt_text_begin(buffer, sizeof buffer);
    add_pcs(&text, "stacks differ; ours:", ours, count);
    add_pcs(&text, "; libunwind's:", theirs, their_count);
    mt_meta_note(MT_NOTE_TEXT, 0, buffer);
    mt_lock_exit(&lock, signals);
}

void mt_unwind_compare(struct mt_unwinder *unwinder, struct mt_frame leaf) {
    uintptr_t *ours = unwinder->hashes; /* free for now */
    uintptr_t *theirs = unwinder->pcs;
    uint32_t count = unwinder->cached, first = 0;
    uint32_t total = mt_libunwind_backtrace(theirs, MT_STACK_DEPTH_MAX + 32);
    for (uint32_t i = 0; i < count; i++)
        ours[i] = unwinder->cache[count - 1 - i].frame.pc;
    while (first < total && theirs[first] != leaf.pc)
        first++;
    if (first == total)
        return; /* no libunwind, or it did not get out of our own frames */
    while (total > first + 1 && theirs[total - 1] == 0)
        total--;
    uint32_t their_count = total - first;
    bool is_same = their_count == count;
    for (uint32_t i = 0; is_same && i < count; i++)
        is_same = theirs[first + i] == ours[i];
    mt_trace_file_count(MT_COUNT_STACKS_COMPARED, 1);
    if (is_same)
        return;
    mt_trace_file_count(MT_COUNT_STACKS_DIFFERENT, 1);
    note(ours, count, theirs + first, their_count);
}
