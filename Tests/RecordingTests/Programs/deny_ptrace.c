// Runs argv[1] under a seccomp filter that refuses ptrace, process_vm_readv, process_vm_writev and
// kcmp with EPERM, as containers do, and close_range, as those do that are older than it. With -U
// before it, in a user namespace of its own, too.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(number)                                                                             \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                             \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

int main(int argc, char **argv) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_ptrace),
        REFUSE(SYS_process_vm_readv),
        REFUSE(SYS_process_vm_writev),
        REFUSE(SYS_kcmp),
        REFUSE(436), // close_range
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (argc > 2 && strcmp(argv[1], "-U") == 0) {
        if (unshare(CLONE_NEWUSER) != 0)
            return 3;
        argc--;
        argv++;
    }
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 1;
    execv(argv[1], argv + 1);
    return 2;
}
