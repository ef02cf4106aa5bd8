// A forked child makes one call before it allocates anything: by the function or by its number
// (argv[1]), with arguments that are refused or change nothing (argv[2]). It says what came of it
// and is killed, so that nothing else can begin its trace. Or a vfork child makes it ("vfork").
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int capset(void *header, const void *data);
int pivot_root(const char *new_root, const char *put_old);

static long call_function(const char *name) {
    if (strcmp(name, "setuid") == 0)
        return setuid(-1);
    if (strcmp(name, "setgid") == 0)
        return setgid(-1);
    if (strcmp(name, "seteuid") == 0)
        return seteuid(-1);
    if (strcmp(name, "setegid") == 0)
        return setegid(-1);
    if (strcmp(name, "setreuid") == 0)
        return setreuid(-1, -1);
    if (strcmp(name, "setregid") == 0)
        return setregid(-1, -1);
    if (strcmp(name, "setresuid") == 0)
        return setresuid(-1, -1, -1);
    if (strcmp(name, "setresgid") == 0)
        return setresgid(-1, -1, -1);
    if (strcmp(name, "setgroups") == 0)
        return setgroups(-1, NULL);
    if (strcmp(name, "capset") == 0)
        return capset(NULL, NULL);
    if (strcmp(name, "chroot") == 0)
        return chroot("");
    if (strcmp(name, "pivot_root") == 0)
        return pivot_root("", "");
    if (strcmp(name, "unshare") == 0)
        return unshare(-1);
    if (strcmp(name, "setns") == 0)
        return setns(-1, 0);
    return getpid();
}

static long call_number(const char *name) {
    static const struct {
        const char *name;
        long number;
    } calls[] = {{"setuid", SYS_setuid},
                 {"setgid", SYS_setgid},
                 {"setreuid", SYS_setreuid},
                 {"setregid", SYS_setregid},
                 {"setresuid", SYS_setresuid},
                 {"setresgid", SYS_setresgid},
                 {"setgroups", SYS_setgroups},
                 {"capset", SYS_capset},
                 {"chroot", SYS_chroot},
                 {"pivot_root", SYS_pivot_root},
                 {"unshare", SYS_unshare},
                 {"setns", SYS_setns},
                 {"landlock", 446}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0)
            return syscall(calls[i].number, -1L, -1L, -1L);
    return syscall(SYS_getpid);
}

static long call(char **arguments) {
    return (strcmp(arguments[1], "number") == 0 ? call_number : call_function)(arguments[2]);
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 1;
    free(malloc(44001));
    int status = 0, in_parent = strcmp(argv[1], "vfork") == 0;
    pid_t child = in_parent ? vfork() : fork();
    if (child == 0) {
        errno = 0;
        long result = call(argv);
        int error = errno;
        if (in_parent)
            _exit(result == -1 ? error : 0);
        if (result <= 0)
            dprintf(1, "%s: %ld %d\n", argv[2], result, error);
        raise(SIGKILL);
    }
    waitpid(child, &status, 0);
    free(malloc(44002));
    printf("%x\n", status);
    return 0;
}
