// What execve refuses: a FIFO, a directory, addresses that cannot be read.
#include <errno.h>
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
    unlink("fifo");
    mkfifo("fifo", 0755);
    refused(execve("./fifo", good, good));
    refused(execve("/tmp", good, good));
    refused(execve("", good, good));
    refused(execve((char *)8, good, good));
    refused(execve("/bin/true", (char **)8, good));
    refused(execve("/bin/true", good, (char **)8));
    refused(execve("/bin/true", good, bad));
    return 0;
}
