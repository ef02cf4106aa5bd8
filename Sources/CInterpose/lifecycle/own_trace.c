/* See own_trace.h. */
#include "lifecycle/own_trace.h"

#include "base/config.h"
#include "base/os.h"
#include "base/text.h"
#include "process/recording.h"
#include "trace/meta_writer.h"
#include "trace/trace_name.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

static void origin_session(struct mt_trace_origin *origin) {
    if (mt_text_parse_hex(mt_config.session, origin->session_id, 16))
        return;
    if (mt_os_random(origin->session_id, 16) != 16)
        memcpy(origin->session_id, &origin->load_ticks, sizeof origin->load_ticks);
    struct mt_text text = mt_text_begin(mt_config.session, sizeof mt_config.session);
    mt_text_add_hex(&text, origin->session_id, 16);
}

/* MEMTRACE_PARENT is "TRACE-ID:PID" and stays in the environment for ever: it speaks of our parent
 * only if that pid is ours (exec) or our parent's (fork and exec, spawn). */
static void origin_parent(struct mt_trace_origin *origin) {
    uint64_t pid;
    if (mt_text_length(mt_config.parent) > 33 && mt_config.parent[32] == ':' &&
        mt_text_parse_number(mt_config.parent + 33, &pid) &&
        (pid == (uint64_t)mt_os_pid() || pid == (uint64_t)mt_os_ppid()))
        mt_text_parse_hex(mt_config.parent, origin->parent_trace_id, 16);
}

struct mt_trace_origin mt_own_trace_origin(uint64_t load_ticks) {
    struct mt_trace_origin origin = {.load_ticks = load_ticks};
    origin_session(&origin);
    origin_parent(&origin);
    return origin;
}

struct mt_trace_origin mt_own_trace_origin_forked(uint64_t load_ticks) {
    struct mt_trace_origin origin = {.flags = MT_HEADER_FORKED, .load_ticks = load_ticks};
    mt_recording_trace_id(origin.parent_trace_id);
    mt_text_parse_hex(mt_config.session, origin.session_id, 16);
    return origin;
}

long mt_own_trace_create(const struct mt_trace_origin *origin) {
    bool skip_root = origin->flags & MT_HEADER_FORKED;
    static char path[PATH_MAX]; /* not on the stack, which may have 16 KiB */
    long error = -EEXIST;
    mt_trace_file_prepare(&mt_config, origin);
    for (unsigned attempt = 0; error == -EEXIST && attempt < 1000; attempt++) {
        if (!mt_trace_name_try(&mt_config, skip_root, attempt, path))
            return -ENAMETOOLONG;
        error = mt_trace_file_create(path, &mt_config);
    }
    return error;
}

void mt_own_trace_remove_replaced(const struct mt_trace_origin *origin) {
    struct mt_file_header header;
    const char *path = mt_config.replaces;
    if (!*path)
        return;
    long fd = mt_os_open(MT_AT_CWD, path, 0, 0);
    if (fd < 0)
        return;
    bool is_ours = mt_os_pread((int)fd, &header, sizeof header, 0) == sizeof header &&
                   memcmp(header.magic, MT_FILE_MAGIC, 8) == 0 &&
                   header.pid == (uint32_t)mt_os_pid() && (header.flags & MT_HEADER_FORKED) &&
                   memcmp(header.trace_id, origin->parent_trace_id, 16) == 0;
    mt_os_close((int)fd);
    if (is_ours && mt_os_unlink(path) == 0)
        mt_meta_note(MT_NOTE_TEXT, header.file_end,
                     "the trace of this process between fork and exec was removed");
}
