/* See thread_list.h. */
#define _GNU_SOURCE
#include "events/thread_list.h"

#include "base/os_threads.h"
#include "base/proc_numbers.h"
#include "base/text.h"
#include <errno.h>
#include <string.h>

enum { STATUS = 4096 };

static char g_status[STATUS];

/* The hexadecimal number after a name at the beginning of a line. */
static bool find_mask(const char *text, const char *name, uint64_t *mask) {
    const char *found = strstr(text, name);
    if (!found)
        return false;
    for (found += mt_text_length(name); *found == ' ' || *found == '\t'; found++)
        ;
    *mask = mt_text_take_hex(&found);
    return true;
}

/* A thread group's leader that has called pthread_exit stays, as a zombie, until the others end. */
static bool is_dead(const char *status) {
    const char *state = strstr(status, "\nState:\t");
    return state && (state[8] == 'Z' || state[8] == 'X');
}

/* Reads a file of a thread into g_status.
 * returns  its length, or -errno */
static long read_file(uint32_t tid, const char *name) {
    char path[64];
    struct mt_text text = mt_text_begin(path, sizeof path);
    mt_text_add(&text, "/proc/self/task/");
    mt_text_add_number(&text, tid);
    mt_text_add(&text, name);
    return mt_os_read_file(path, g_status, sizeof g_status);
}

bool mt_thread_blocked_signals(uint32_t tid, uint64_t *blocked) {
    *blocked = UINT64_MAX;
    if (!mt_os_has_thread((int)tid))
        return false;
    long length = read_file(tid, "/status");
    if (length <= 0)
        return length != -ENOENT && length != -ESRCH;
    uint64_t mask;
    if (find_mask(g_status, "\nSigBlk:", &mask))
        *blocked = mask;
    return !is_dead(g_status);
}

/* The ninth field of proc_pid_stat(5), behind a name that may hold anything. */
static uint64_t read_flags(const char *stat) {
    enum { BETWEEN = 7 };
    const char *at = strrchr(stat, ')');
    for (int i = 0; i < BETWEEN && at; i++)
        at = strchr(at + 1, ' ');
    uint64_t flags = 0;
    for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
        flags = flags * 10 + (uint64_t)(*at - '0');
    return flags;
}

bool mt_thread_is_kernels(uint32_t tid, uint64_t blocked) {
    /* PF_IO_WORKER and PF_USER_WORKER of the kernel's <linux/sched.h>: numbers that meant something
     * else before Linux 5.12, but of no thread that holds back all that can be. */
    enum { IO_WORKER = 0x10, USER_WORKER = 0x4000, SIGKILL_BIT = 8, SIGSTOP_BIT = 18 };
    uint64_t all = ~((uint64_t)1 << SIGKILL_BIT | (uint64_t)1 << SIGSTOP_BIT);
    return blocked == all && read_file(tid, "/stat") > 0 &&
           (read_flags(g_status) & (IO_WORKER | USER_WORKER)) != 0;
}

struct listing {
    uint32_t *tids;
    uint32_t count, own;
};

static void add_thread(uint64_t tid, int directory, void *context) {
    struct listing *listing = context;
    (void)directory;
    if (tid != listing->own && listing->count < MT_THREADS_MAX)
        listing->tids[listing->count++] = (uint32_t)tid;
}

long mt_thread_list(uint32_t *tids) {
    struct listing listing = {.tids = tids, .own = (uint32_t)mt_os_tid()};
    long error = mt_proc_numbers("/proc/self/task", add_thread, &listing);
    return error < 0 ? error : (long)listing.count;
}
