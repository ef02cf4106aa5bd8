#define _GNU_SOURCE
#include "claunch.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t claunch_start(const char *file, char *const arguments[], char *const environment[],
                    const sigset_t *mask, int *error) {
    struct sigaction inherited = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, NULL, &inherited);
    if (inherited.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
    volatile int failure = 0;
    pid_t pid = vfork();
    if (pid == 0) {
        /* In the child: it shares our memory, but not our dispositions. */
        if (inherited.sa_handler == SIG_IGN)
            signal(SIGCHLD, SIG_IGN);
        sigprocmask(SIG_SETMASK, mask, NULL);
        execve(file, arguments, environment);
        failure = errno;
        _exit(127);
    }
    *error = pid < 0 ? errno : failure;
    if (pid > 0 && failure) {
        waitpid(pid, NULL, 0);
        return -1;
    }
    return pid;
}
