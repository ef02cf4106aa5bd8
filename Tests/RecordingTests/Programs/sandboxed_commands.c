// Runs commands in a seccomp sandbox that allows what they need, and kills, or refuses, for what
// the recorder does besides: argv[1] says which.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int enter_sandbox(unsigned action) {
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1), BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {sizeof instructions / sizeof *instructions, instructions};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

int main(int argc, char **argv) {
    int kills = argc > 1 && strcmp(argv[1], "kills") == 0;
    if (enter_sandbox(kills ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM) != 0)
        return 1;
    int status = system("echo system");
    printf("%d\n", status);
    char line[20] = "";
    FILE *output = popen("echo popen", "r");
    fgets(line, sizeof line, output);
    printf("%s%d\n", line, pclose(output));
    fflush(stdout);
    execlp("echo", "echo", "exec", NULL);
    return 2;
}
