/* See thread_list.h. */
#define _GNU_SOURCE
#include "thread_list.h"

#include "os_threads.h"
#include "text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { STATUS = 4096 };

static char g_entries[8192] __attribute__((aligned(8)));
static char g_status[STATUS];

struct entry { /* struct linux_dirent64 */
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

/* The hexadecimal number after a name at the beginning of a line. */
static bool find_mask(const char *text, const char *name, uint64_t *mask) {
    const char *found = strstr(text, name);
    if (!found)
        return false;
    *mask = 0;
    for (found += mt_text_length(name); *found == ' ' || *found == '\t'; found++)
        ;
    for (; *found && *found != '\n'; found++) {
        char c = *found;
        *mask = *mask << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

/* A thread group's leader that has called pthread_exit stays, as a zombie, until the others end. */
static bool is_dead(const char *status) {
    const char *state = strstr(status, "\nState:\t");
    return state && (state[8] == 'Z' || state[8] == 'X');
}

bool mt_thread_blocked_signals(uint32_t tid, uint64_t *blocked) {
    *blocked = UINT64_MAX;
    if (mt_os_queue_signal((int)tid, 0, NULL) == -ESRCH)
        return false;
    char path[64];
    struct mt_text text = mt_text_begin(path, sizeof path);
    mt_text_add(&text, "/proc/self/task/");
    mt_text_add_number(&text, tid);
    mt_text_add(&text, "/status");
    long fd = mt_os_open(MT_AT_CWD, path, O_RDONLY, 0);
    if (fd < 0)
        return fd != -ENOENT;
    long length = mt_os_read((int)fd, g_status, STATUS - 1);
    mt_os_close((int)fd);
    if (length <= 0)
        return length != -ESRCH;
    g_status[length] = 0;
    uint64_t mask;
    if (find_mask(g_status, "\nSigBlk:", &mask))
        *blocked = mask;
    return !is_dead(g_status);
}

long mt_thread_list(uint32_t *tids) {
    long directory = mt_os_open(MT_AT_CWD, "/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
    if (directory < 0)
        return directory;
    uint64_t own = (uint64_t)mt_os_tid(), tid;
    long count = 0, length;
    while ((length = mt_os_directory_entries((int)directory, g_entries, sizeof g_entries)) > 0)
        for (long at = 0; at < length; at += ((struct entry *)(g_entries + at))->length) {
            const char *name = ((struct entry *)(g_entries + at))->name;
            if (mt_text_parse_number(name, &tid) && tid != own && count < (long)MT_THREADS_MAX)
                tids[count++] = (uint32_t)tid;
        }
    mt_os_close((int)directory);
    return count;
}
