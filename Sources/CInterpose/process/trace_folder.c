/* See trace_folder.h. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "process/trace_folder.h"

#include "base/config.h"
#include "base/executable_path.h"
#include "base/file_room.h"
#include "base/os.h"
#include "base/os_rights.h"
#include "base/text.h"
#include "process/recording.h"
#include "trace/meta_writer.h"
#include "trace/trace_descriptor.h"
#include "trace/trace_file.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* A bool: whether this process, or what it was forked from, may be in a Landlock domain. */
static uint32_t g_is_landlocked;

void mt_trace_folder_before_landlock(void) {
    __atomic_store_n(&g_is_landlocked, 1, __ATOMIC_RELAXED);
}

/* Only who opens a file is told what Landlock says, and what the effective user may. This one has
 * no name, and is gone at once. */
static bool refuses_files(const char *folder) {
    long fd = mt_os_open(MT_AT_CWD, folder, O_TMPFILE | O_RDWR, S_IRUSR | S_IWUSR);
    if (fd >= 0)
        mt_os_close((int)fd);
    return mt_os_is_out_of_reach(fd);
}

/* returns  false where it is not known, or its name depends on the process: trace_name.h */
static bool find_folder(char folder[MT_TRACE_FOLDER_ROOM]) {
    const char *output = mt_config.output;
    size_t length = (size_t)(mt_text_last_component(output) - output);
    if (*output != '/' || length >= MT_TRACE_FOLDER_ROOM)
        return false;
    memcpy(folder, output, length);
    folder[length] = 0;
    return !strchr(folder, '%');
}

static bool may_files_have_a_header(void) {
    return mt_os_limit(RLIMIT_FSIZE) >= MT_FILE_HEADER_SIZE;
}

static const char *out_of_reach(char folder[MT_TRACE_FOLDER_ROOM]) {
    if (!find_folder(folder))
        return NULL;
    if (mt_os_is_out_of_reach(mt_os_may_create_in(folder)))
        return "traces cannot be written into their folder where it runs (another user, chroot, "
               "mount namespace)";
    if (__atomic_load_n(&g_is_landlocked, __ATOMIC_RELAXED) && refuses_files(folder))
        return "traces cannot be written into their folder in its sandbox (Landlock)";
    return NULL;
}

const char *mt_trace_obstacle(char room[MT_TRACE_FOLDER_ROOM]) {
    if (!may_files_have_a_header())
        return "traces cannot be written where files may have next to no bytes (ulimit -f)";
    return out_of_reach(room);
}

/* "path: reason", as of programs. */
static void note_forks(void) {
    static char line[PATH_MAX + 128]; /* one caller in a process, perhaps with little stack */
    static char path[PATH_MAX];
    size_t length = mt_executable_path(path, sizeof path);
    struct mt_text text = mt_text_begin(line, sizeof line);
    mt_text_add(&text, length ? path : "?");
    mt_text_add(&text, ": its forks cannot write traces any more (another user, chroot, mount "
                       "namespace, Landlock, ulimit -f, ulimit -n)");
    mt_meta_note(MT_NOTE_CHILD_NOT_FOLLOWED, 1, line);
}

/* The kernel is asked about the real user and group, files are made by the effective ones: those of
 * a server that only lends its rights to another user (seteuid) differ. */
static bool is_effectively_another(void) {
    struct mt_identity identity = mt_os_identity();
    return identity.user != identity.effective_user || identity.group != identity.effective_group;
}

/* It has the parent's descriptors, but for that of the trace. A program that it executes instead
 * may have fewer: mt_trace_obstacle does not look at them. */
static bool can_fork_begin(void) {
    char room[MT_TRACE_FOLDER_ROOM];
    if (!mt_file_room_is_left(mt_trace_descriptor_kept()))
        return false;
    if (is_effectively_another())
        return may_files_have_a_header() && (!find_folder(room) || !refuses_files(room));
    return !mt_trace_obstacle(room);
}

void mt_trace_folder_after_fork(void) {
    static uint32_t noted; /* the process that has said so: once is enough */
    if (!mt_config.follow || !mt_recording_owns_trace() || can_fork_begin())
        return;
    mt_trace_file_count(MT_COUNT_CHILDREN_NOT_FOLLOWED, 1);
    uint32_t pid = (uint32_t)mt_os_pid();
    if (__atomic_exchange_n(&noted, pid, __ATOMIC_RELAXED) != pid)
        note_forks();
}
