/* See trace_descriptor.h. */
#define _GNU_SOURCE
#include "trace/trace_descriptor.h"

#include "base/file_room.h"
#include "base/os.h"
#include <errno.h>
#include <fcntl.h>

/* Of so few a host misses the one. Most hosts never have as many as are usual here. */
enum { FEW = 128, USUAL = 4096, GREATEST = 1 << 30 };

static int g_kept = -1;
static struct mt_file_identity g_identity;

int mt_trace_descriptor_kept(void) {
    return __atomic_load_n(&g_kept, __ATOMIC_RELAXED);
}

static bool is_ours(int fd) {
    struct mt_file_identity now;
    return fd >= 0 && mt_os_identify(fd, &now) == 0 && now.device == g_identity.device &&
           now.inode == g_identity.inode;
}

/* ---- Out of the way ---- */

static long move(int fd, int lowest) {
    long moved = mt_os_duplicate_above(fd, lowest);
    if (moved >= 0)
        mt_os_close(fd);
    return moved;
}

/* A process has a table of descriptors up to the highest one. Each fork copies that, and who lists
 * those that are open goes through it (dup_fd in the kernel's fs/file.c): a fork of 130 us takes 14
 * more with one at 4032, 60 with one at 19936.
 *
 * returns  one past the highest number that costs the host little */
static int end_of_table(int fd, uint64_t limit) {
    uint64_t end = USUAL;
    while (end <= (uint64_t)fd + 64 && end < GREATEST)
        end *= 2;
    return (int)(end < limit ? end : limit);
}

/* Hosts close descriptors in ranges from 3 upwards and count on getting low numbers: ours goes near
 * the top of what the limit allows, or of the table. Not beyond: Foundation's Process has
 * posix_spawn close all up to the highest in /proc/self/fd, and posix_spawn_file_actions_addclose
 * takes none above the limit. Only a fork that found none below it keeps one that is: the host
 * cannot miss that.
 *
 * returns  -EMFILE where the host needs them all */
static long move_high(int fd) {
    uint64_t limit = mt_file_room_host_limit();
    if ((uint64_t)fd >= limit)
        return fd;
    int highest = end_of_table(fd, limit);
    for (int distance = 64; distance >= 1 && limit > FEW; distance /= 4) {
        if (highest - distance <= fd)
            continue;
        long moved = move(fd, highest - distance);
        if (moved >= 0)
            return moved;
    }
    return limit > FEW ? fd : -EMFILE;
}

void mt_trace_descriptor_take(int fd) {
    mt_os_identify(fd, &g_identity);
    long moved = move_high(fd);
    if (moved < 0)
        mt_os_close(fd);
    __atomic_store_n(&g_kept, moved < 0 ? -1 : (int)moved, __ATOMIC_RELAXED);
}

/* ---- Use ---- */

static int open_again(const char *path) {
    int fd = (int)mt_os_open(MT_AT_CWD, path, O_RDWR | O_NOFOLLOW, 0);
    if (fd < 0 || is_ours(fd))
        return fd;
    mt_os_close(fd);
    return -ENOENT;
}

/* Who opens it again keeps it, unless somebody else does. */
struct mt_trace_descriptor mt_trace_descriptor_borrow(const char *path) {
    int kept = mt_trace_descriptor_kept();
    if (is_ours(kept))
        return (struct mt_trace_descriptor){kept, true};
    int fd = open_again(path);
    long moved = fd < 0 ? fd : move_high(fd);
    if (moved < 0)
        return (struct mt_trace_descriptor){fd, false};
    bool is_kept = __atomic_compare_exchange_n(&g_kept, &kept, (int)moved, false, __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED);
    return (struct mt_trace_descriptor){(int)moved, is_kept};
}

void mt_trace_descriptor_give_back(struct mt_trace_descriptor borrowed) {
    if (borrowed.fd >= 0 && !borrowed.is_kept)
        mt_os_close(borrowed.fd);
}

void mt_trace_descriptor_close(void) {
    int fd = mt_trace_descriptor_kept();
    if (is_ours(fd))
        mt_os_close(fd);
    __atomic_store_n(&g_kept, -1, __ATOMIC_RELAXED);
}
