/* See mappings.h. */
#include "mappings/mappings.h"

#include "base/clock.h"
#include "base/config.h"
#include "base/lock.h"
#include "base/text.h"
#include "events/pausing.h"
#include "events/recorder.h"
#include "trace/meta_writer.h"
#include "trace/trace_file.h"
#include "unwind/unwind_capture.h"

bool mt_mappings_are_recorded;

void mt_mappings_begin(void) {
    if (!mt_config.mappings)
        return;
    mt_trace_file_note_mappings();
    mt_mappings_are_recorded = true;
}

struct mt_mapping_record mt_mapping_call(enum mt_mapping_call call) {
    return (struct mt_mapping_record){.call = call, .end_time = mt_clock_event_time()};
}

/* The path of an open file, as the kernel tells it now: " (deleted)" is its word.
 * returns  its length; 0 without a file, or without /proc */
static uint32_t look_up_path(int descriptor, char path[PATH_MAX]) {
    char link[32];
    if (descriptor < 0)
        return 0;
    struct mt_text text = mt_text_begin(link, sizeof link);
    mt_text_add(&text, "/proc/self/fd/");
    mt_text_add_number(&text, (uint64_t)descriptor);
    long length = mt_os_readlink(link, path, PATH_MAX);
    return length > 0 ? (uint32_t)length : 0;
}

static void write_record(struct mt_mapping_record *mapping, int descriptor) {
    /* Threads may have little stack. */
    static char path[PATH_MAX];
    static struct mt_lock lock;
    uint64_t signals = mt_lock_enter(&lock);
    mapping->path_length = look_up_path(descriptor, path);
    struct mt_piece pieces[] = {{mapping, sizeof *mapping}, {path, mapping->path_length}};
    mt_meta_write(MT_RECORD_MAPPING, pieces, 2);
    mt_lock_exit(&lock, signals);
}

void mt_mapping_write(struct mt_mapping_record *mapping, const struct mt_frame *caller,
                      int descriptor) {
    enum mt_entry entry = mt_enter(caller->sp);
    if (entry == MT_ENTRY_PASS || mt_tls.in_libunwind || mt_trace_file_is_sealed()) {
        mt_leave(entry);
        return;
    }
    if (mapping->length && mt_pausing_is_possible && mt_pausing_is_paused())
        mapping->length = 0;
    /* Not of a call inside another hook, as that of an allocator: the walk may be what it is in. */
    if (entry == MT_ENTRY_RECORD && mt_unwind_depth != 0 && mapping->call != MT_MAPPING_PROTECT)
        mapping->stack = mt_unwind_capture(&mt_tls.thread->unwinder, caller);
    mapping->thread = mt_tls.index;
    mapping->time = mt_clock_event_time();
    if (mapping->length || mapping->ended_length)
        write_record(mapping, descriptor);
    mt_leave(entry);
}
