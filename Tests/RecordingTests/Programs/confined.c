// Allocates in a place from which the trace cannot be reached again: chroot, another directory,
// another user (argv[1]), perhaps once it has closed all descriptors (argv[3]), as daemons do. Then
// starts a child.
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int confine(const char *way, const char *folder) {
    if (strcmp(way, "chdir") == 0)
        return chdir(folder);
    if (strcmp(way, "chroot") == 0)
        return chdir(folder) != 0 ? -1 : chroot(".") != 0 ? -1 : chdir("/");
    if (strcmp(way, "user") == 0)
        return setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0 ? -1 : 0;
    return -1;
}

int main(int argc, char **argv) {
    free(malloc(24001));
    if (argc > 3)
        closefrom(3);
    if (argc < 3 || confine(argv[1], argv[2]) != 0)
        return 1;
    for (int i = 0; i < 100000; i++)
        free(malloc(24002));
    pid_t child = fork();
    if (child == 0) {
        free(malloc(24003));
        _exit(8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    free(malloc(24004));
    printf("%s: %d\n", argv[1], WEXITSTATUS(status));
    return 0;
}
