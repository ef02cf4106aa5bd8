// In a seccomp sandbox that forbids a few calls, none of which the recorder makes: allocates on,
// and runs itself once more. argv[1] says by which call the filter is installed.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* kexec_load kills; others are refused, and clone into a namespace. */
static struct sock_filter instructions[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kexec_load, 8, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 6, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 3, 2),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};

static long install(const char *way) {
    struct sock_fprog filter = {sizeof instructions / sizeof *instructions, instructions};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (strcmp(way, "prctl") == 0)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
}

static void run(const char *program) {
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, NULL);
        _exit(1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    printf("%d\n", status);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        free(malloc(10004));
        puts("child");
        return 0;
    }
    if (install(argv[1]) != 0)
        return 1;
    errno = 0;
    unshare(CLONE_NEWUSER);
    puts(strerror(errno));
    fflush(stdout);
    for (int i = 0; i < 100000; i++)
        free(malloc(10004));
    run(argv[0]);
    return 7;
}
