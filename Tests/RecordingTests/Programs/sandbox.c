/* In a seccomp sandbox that kills for anything but write and exit_group: allocates on. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// usage: sandbox [_exit]; else it ends by exit
int main(int argc, char **argv) {
    (void)argv;
    if (syscall(SYS_getpid) != getpid())
        return 1;
    char *m = (char *)syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    m[0] = 1;
    if (syscall(SYS_close, -1) != -1 || errno != EBADF)
        return 2;
    for (int i = 0; i < 1000; i++)
        free(malloc(10001));
    struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog p = {5, f};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p))
        return 3;
    for (int i = 0; i < 200000; i++)
        free(malloc(100));
    write(1, "alive\n", 6);
    if (argc > 1)
        _exit(7);
    return 7;
}
