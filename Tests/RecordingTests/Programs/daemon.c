// Forgets blocks, then makes itself a daemon, or fails to for lack of processes (argv[1]). Who
// makes a daemon is a forked child here, so that the end of the daemon can be waited for: that of a
// pipe.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((noinline)) static void forget(size_t size) {
    memset(malloc(size), 1, size);
}

int main(int argc, char **argv) {
    for (int i = 0; i < 3; i++)
        forget(46001);
    if (argc > 1) { /* root is not held to the limit */
        struct rlimit none = {0, 0};
        if (setrlimit(RLIMIT_NPROC, &none) != 0 || (getuid() == 0 && setuid(65534) != 0))
            return 1;
        int result = daemon(1, 1);
        printf("%d %d\n", result, errno);
        return 6;
    }
    int ends[2];
    char none;
    if (pipe(ends) != 0)
        return 1;
    if (fork() != 0) {
        close(ends[1]);
        return read(ends[0], &none, 1) == 0 ? 0 : 1;
    }
    forget(46003);
    if (daemon(1, 1) != 0)
        return 1;
    free(malloc(46002));
    puts("daemon");
    return 5;
}
