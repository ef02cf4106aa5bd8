/* Gives the cycle counter away, or the right to system calls, and allocates on. */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
    void *blocks[1000];
    for (int i = 0; i < 1000; i++)
        blocks[i] = malloc(10003);
    for (int i = 0; i < 1000; i++)
        free(blocks[i]);
    int strict = !strcmp(argv[1], "strict");
    long option = strict ? PR_SET_SECCOMP : PR_SET_TSC;
    long value = strict ? SECCOMP_MODE_STRICT : PR_TSC_SIGSEGV;
    long failed = !strcmp(argv[2], "prctl") ? prctl(option, value, 0, 0, 0)
                                            : syscall(SYS_prctl, option, value, 0, 0, 0);
    if (failed)
        return 1;
    for (int i = 0; i < 10000; i++)
        free(malloc(100));
    if (!strict) {
        struct timespec no_time = {0, 0};
        sigset_t no_signals;
        sigemptyset(&no_signals);
        sigtimedwait(&no_signals, NULL, &no_time);
    }
    write(1, "alive\n", 6);
    syscall(SYS_exit, 7);
}
