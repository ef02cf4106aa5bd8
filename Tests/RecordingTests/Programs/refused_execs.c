// What execve refuses: a FIFO, a directory, addresses that cannot be read, none at all.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void refused(int result) {
    printf("%d %s\n", result, strerror(errno));
    fflush(stdout);
}

int main(void) {
    char *bad[] = {(char *)8, NULL}, *good[] = {"x", NULL};
    pid_t process;
    unlink("fifo");
    mkfifo("fifo", 0755);
    refused(execve("./fifo", good, good));
    refused(execve("/tmp", good, good));
    refused(execve("", good, good));
    refused(execve((char *)8, good, good));
    refused(execve("/bin/true", (char **)8, good));
    refused(execve("/bin/true", good, (char **)8));
    refused(execve("/bin/true", good, bad));
    refused(execve(NULL, good, good));
    refused(execve("./ld-linux-gone", NULL, good));
    refused(execveat(AT_FDCWD, NULL, good, good, 0));
    errno = posix_spawn(&process, NULL, NULL, NULL, good, good);
    refused(errno);
    errno = posix_spawn(&process, (char *)8, NULL, NULL, good, good);
    refused(errno);
    return 0;
}
