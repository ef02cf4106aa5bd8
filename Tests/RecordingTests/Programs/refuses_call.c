/* Runs argv[3] under a seccomp filter that refuses the system call argv[2], or ends who makes it
 * where argv[1] is "kill". */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"exit_group", SYS_exit_group},
    {"getpid", SYS_getpid},
    {"madvise", SYS_madvise},
    {"mincore", SYS_mincore},
    {"pipe2", SYS_pipe2},
    {"ptrace", SYS_ptrace},
    {"rt_sigprocmask", SYS_rt_sigprocmask},
};

static int refuse(unsigned number, unsigned answer) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv) {
    unsigned answer = argc >= 4 && !strcmp(argv[1], "kill") ? SECCOMP_RET_KILL_PROCESS
                                                            : SECCOMP_RET_ERRNO | EPERM;
    for (size_t i = 0; argc >= 4 && i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(argv[2], calls[i].name) && !refuse(calls[i].number, answer))
            execv(argv[3], argv + 3);
    return 2;
}
