// Asks the kernel in all usual ways whether it knows seccomp filters, which installs none, and goes
// on.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(const char *what, long result) {
    printf("%s %ld %s\n", what, result, result ? strerror(errno) : "");
}

int main(void) {
    void *none = NULL;
    int action = SECCOMP_RET_ALLOW;
    tell("mode", prctl(PR_GET_SECCOMP));
    tell("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, none));
    tell("by number", syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, none, 0, 0));
    tell("strict", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, none));
    tell("filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, none));
    tell("tsync", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, none));
    tell("action", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action));
    for (int i = 0; i < 100; i++)
        free(malloc(43002));
    return 0;
}
