/* See file_room.h. */
#define _GNU_SOURCE
#include "base/file_room.h"

#include "base/os.h"
#include <errno.h>
#include <limits.h>
#include <sys/resource.h>

/* So many are open at once. */
enum { NEEDED = 4 };

/* What the host has set, while it is raised; else 0. */
static uint64_t g_host_limit;

static bool is_enough(int fd) {
    int copies[NEEDED], count = 0;
    while (count < NEEDED && (copies[count] = (int)mt_os_duplicate_above(fd, 0)) >= 0)
        count++;
    for (int i = 0; i < count; i++)
        mt_os_close(copies[i]);
    return count == NEEDED;
}

void mt_file_room_make(int fd) {
    if (g_host_limit || is_enough(fd))
        return;
    uint64_t limit = mt_os_limit(RLIMIT_NOFILE);
    if (mt_os_set_soft_limit(RLIMIT_NOFILE, limit + NEEDED) == 0)
        g_host_limit = limit;
}

void mt_file_room_leave(void) {
    if (g_host_limit)
        mt_os_set_soft_limit(RLIMIT_NOFILE, g_host_limit);
    g_host_limit = 0;
}

uint64_t mt_file_room_host_limit(void) {
    return g_host_limit ? g_host_limit : mt_os_limit(RLIMIT_NOFILE);
}

/* From the top, where numbers are free in all but those who have none left. */
bool mt_file_room_is_left(int own) {
    uint64_t limit = mt_os_limit(RLIMIT_NOFILE);
    struct mt_file_identity ignored;
    if (limit < mt_os_hard_limit(RLIMIT_NOFILE) || (own >= 0 && (uint64_t)own < limit))
        return true;
    for (uint64_t fd = limit < INT_MAX ? limit : INT_MAX; fd-- > 0;)
        if (mt_os_identify((int)fd, &ignored) == -EBADF)
            return true;
    return false;
}
