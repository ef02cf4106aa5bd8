#define _GNU_SOURCE
#include "claunch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Variables with which a service manager says to which process it gives sockets, or whom it watches
 * (sd_listen_fds, sd_watchdog_enabled): others take no notice. */
static const char *const g_naming[] = {"LISTEN_PID=", "WATCHDOG_PID="};

enum { NAMING = sizeof g_naming / sizeof *g_naming, NAMING_ROOM = 48 };

/* Where one of them names this process; NULL: it does not. */
static char **find_naming(char *environment[], const char *name) {
    size_t length = strlen(name);
    for (char **at = environment; *at; at++)
        if (strncmp(*at, name, length) == 0)
            return strtol(*at + length, NULL, 10) == getpid() ? at : NULL;
    return NULL;
}

pid_t claunch_start(const char *file, char *const arguments[], char *environment[],
                    const sigset_t *mask, int *error) {
    struct sigaction inherited = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, NULL, &inherited);
    if (inherited.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
    int signal_of_parents_end = 0;
    prctl(PR_GET_PDEATHSIG, &signal_of_parents_end);
    char **naming[NAMING], room[NAMING][NAMING_ROOM];
    for (size_t i = 0; i < NAMING; i++)
        naming[i] = find_naming(environment, g_naming[i]);
    volatile int failure = 0;
    pid_t pid = vfork();
    if (pid == 0) {
        /* In the child: it shares our memory, but not our dispositions. */
        if (inherited.sa_handler == SIG_IGN)
            signal(SIGCHLD, SIG_IGN);
        if (signal_of_parents_end)
            prctl(PR_SET_PDEATHSIG, signal_of_parents_end);
        for (size_t i = 0; i < NAMING; i++) {
            if (!naming[i])
                continue;
            snprintf(room[i], NAMING_ROOM, "%s%d", g_naming[i], getpid());
            *naming[i] = room[i];
        }
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
