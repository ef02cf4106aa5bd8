// Calls syscall() for the first time, with a number that is seccomp's on another machine, and goes
// on.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    int ends[2];
    pipe(ends); // no file: ESPIPE
    dup2(ends[0], 0);
    long result = syscall(SYS_sync_file_range, 0, 0L, 0L, 0);
    printf("%ld %s\n", result, strerror(errno));
    free(malloc(43001));
    return 0;
}
