// Starts the program argv[2] as a child that has first done what argv[1] says: nothing ("none"),
// become another user ("user"), also with all capabilities ("keep"), or effectively so
// ("effective"), or given up to gain rights ("no-new"). Or gives that program a capability:
// "capable", or one to be inherited: "inheriting".
#define _GNU_SOURCE
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { OTHER = 65534 };

static int raise_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0)
        return -1;
    data[0].effective = data[0].permitted;
    data[1].effective = data[1].permitted;
    return (int)syscall(SYS_capset, &header, data);
}

static int prepare(const char *way) {
    if (strcmp(way, "keep") == 0)
        return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) + prepare("user") + raise_capabilities();
    if (strcmp(way, "user") == 0)
        return setresgid(OTHER, OTHER, OTHER) + setresuid(OTHER, OTHER, OTHER);
    if (strcmp(way, "effective") == 0)
        return seteuid(OTHER);
    if (strcmp(way, "no-new") == 0)
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return 0;
}

static int give_capability(const char *path, int is_inherited) {
    uint32_t permitted = is_inherited ? 0 : 1u << CAP_NET_RAW, effective = is_inherited ? 0 : 1;
    struct vfs_cap_data data = {.magic_etc = VFS_CAP_REVISION_2 | effective};
    data.data[0].permitted = permitted;
    data.data[0].inheritable = 1u << CAP_NET_RAW;
    return setxattr(path, "security.capability", &data, sizeof data, 0) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 64;
    if (strcmp(argv[1], "capable") == 0 || strcmp(argv[1], "inheriting") == 0)
        return give_capability(argv[2], argv[1][0] == 'i');
    free(malloc(46001));
    pid_t child = fork();
    if (child == 0) {
        if (prepare(argv[1]) == 0)
            execv(argv[2], argv + 2);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    return 0;
}
