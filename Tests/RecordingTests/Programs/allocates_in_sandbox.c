/* In a seccomp sandbox where no call but write and exit_group does what it says: allocates what was
 * freed before, and then ends, or crashes. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 60000 };

// usage: allocates_in_sandbox exit|crash
int main(int argc, char **argv) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 100),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {5, filter};
    if (argc != 2)
        return 1;
    for (int i = 0; i < 100; i++)
        free(memset(malloc(SIZE), 1, SIZE));
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 2;
    for (int i = 0; i < 100; i++)
        free(memset(realloc(memset(malloc(SIZE), 1, SIZE), SIZE + 1), 1, SIZE));
    if (strcmp(argv[1], "crash") == 0)
        *(volatile int *)0 = 0;
    _exit(7);
}
