/* Asks the kernel for the first timer of the process, and which signals have handlers: a tick of a
 * recorder that nobody handles any more would end it, one that is handled make calls that a sandbox
 * forbids. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int is_ticking(void) {
    struct itimerspec left;
    return syscall(SYS_timer_gettime, 0, &left) == 0;
}

static int handled(void) {
    struct {
        void *handler;
        unsigned long flags, restorer, mask;
    } action;
    int count = 0;
    for (int number = SIGRTMIN + 2; number <= SIGRTMAX; number++)
        if (syscall(SYS_rt_sigaction, number, NULL, &action, 8) == 0 && action.handler != NULL)
            count++;
    return count;
}

/* Kills for a call that recorders make and this does not, so that none of theirs may follow. */
static void enter_sandbox(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {4, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        exit(2);
}

// usage: ticking sandbox|child
int main(int argc, char **argv) {
    free(malloc(10001));
    if (argc > 1 && strcmp(argv[1], "sandbox") == 0) {
        enter_sandbox();
        printf("%d timers, %d handlers\n", is_ticking(), handled());
        return 0;
    }
    if (fork() == 0) {
        for (int number = 1; number <= SIGRTMAX; number++)
            signal(number, SIG_DFL);
        free(malloc(10002));
        printf("ticks %s\n", is_ticking() && !handled() ? "end it" : "are handled");
        return 0;
    }
    wait(NULL);
    return 0;
}
