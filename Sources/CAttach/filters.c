/* What the seccomp filters of a thread would do to the recorder. See cattach.h. */
#define _GNU_SOURCE
#include "cattach.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>

/* The recorder's own knowledge of what it calls, which depends on nothing else of it. By other
 * names: the unit tests have both. */
#define mt_sandbox_filter_spares filter_spares
#define mt_sandbox_filter_spares_attaching filter_spares_attaching
#include "lifecycle/sandbox_filter.c"

/* PTRACE_SECCOMP_GET_FILTER: the filter of a number, or only how long it is. */
enum { GET_FILTER = 0x420c };

static long get_filter(pid_t tid, unsigned long index, struct sock_filter *program) {
    return ptrace((enum __ptrace_request)GET_FILTER, tid, (void *)index, program);
}

static int look_at(pid_t tid, unsigned long index, uint32_t length, bool *spares) {
    struct sock_filter *program = calloc(length, sizeof *program);
    if (!program)
        return ENOMEM;
    int error = get_filter(tid, index, program) < 0 ? errno : 0;
    *spares = !error && filter_spares_attaching(program, length);
    free(program);
    return error;
}

int cattach_filters(pid_t tid, bool *spares) {
    *spares = true;
    for (unsigned long index = 0; *spares; index++) {
        long length = get_filter(tid, index, NULL);
        if (length < 0 && errno == ENOENT)
            return 0;
        int error = length < 0 ? errno : look_at(tid, index, (uint32_t)length, spares);
        if (error) {
            *spares = false;
            return error;
        }
    }
    return 0;
}
