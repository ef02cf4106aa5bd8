// In a Landlock domain in which files may be written beneath argv[1] only, forks, and becomes
// /bin/echo.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// linux/landlock.h came with Linux 5.13, as did the calls.
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { PATH_BENEATH = 1, WRITE_FILE = 1 << 1, MAKE_REG = 1 << 8 };

static int confine(const char *folder) {
    uint64_t handled = WRITE_FILE | MAKE_REG;
    struct __attribute__((packed)) {
        uint64_t allowed;
        int32_t parent;
    } rule = {handled, open(folder, O_PATH | O_CLOEXEC)};
    long rules = syscall(CREATE_RULESET, &handled, sizeof handled, 0);
    if (rules < 0 || syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0) != 0)
        return -1;
    close(rule.parent);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(RESTRICT_SELF, rules, 0);
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 1;
    free(malloc(48101));
    if (confine(argv[1]) != 0) {
        printf("no Landlock\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        free(malloc(48102));
        _exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    free(malloc(48103));
    execl("/bin/echo", "echo", "echoed", NULL);
    return 3;
}
