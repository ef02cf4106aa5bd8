// Takes a heap snapshot before the first process of a new namespace is there: a child of this one,
// which stays until another one has been and gone.
#define _GNU_SOURCE
#include "memtrace.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    if (unshare(CLONE_NEWPID) != 0) {
        printf("not permitted\n");
        return 0;
    }
    static void *held;
    held = malloc(47001);
    MEMTRACE_SNAPSHOT("new");
    int ends[2];
    if (pipe(ends) != 0)
        return 64;
    pid_t first = fork();
    if (first == 0) {
        char byte;
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? getpid() : 64);
    }
    pid_t second = first < 0 ? -1 : fork();
    if (second == 0)
        _exit(getpid());
    int error = errno, statuses[2] = {0, 0};
    if (second > 0)
        waitpid(second, &statuses[1], 0);
    close(ends[1]);
    if (first > 0)
        waitpid(first, &statuses[0], 0);
    if (second < 0)
        printf("%s\n", strerror(error));
    printf("%d, %d\n", WEXITSTATUS(statuses[0]), WEXITSTATUS(statuses[1]));
    return held == NULL;
}
