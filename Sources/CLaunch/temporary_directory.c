/* A directory whose files go, however this process ends.
 *
 * Whoever presses Ctrl-C or closes the pipe behind a report ends memtrace by a signal. What a
 * temporary recording has written, gigabytes of it perhaps, would stay. What runs in the handler
 * makes system calls and nothing else. */
#define _GNU_SOURCE
#include "claunch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int g_ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM};

static char g_directory[PATH_MAX];
/* The process that made it: a child between vfork and exec has this memory and these handlers. */
static volatile pid_t g_owner;

/* Removes the files in an open directory; it holds no directories. */
static void remove_files(int directory) {
    alignas(struct dirent64) char entries[4096];
    ssize_t length;
    while ((length = getdents64(directory, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < length;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            unlinkat(directory, entry->d_name, 0);
            at += entry->d_reclen;
        }
    }
}

void claunch_remove_temporary_directory(void) {
    if (g_owner != getpid())
        return;
    g_owner = 0;
    int directory = open(g_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        remove_files(directory);
        close(directory);
    }
    rmdir(g_directory);
}

/* Ends the process as the signal would have: it waits until this returns. */
static void remove_and_end(int number) {
    claunch_remove_temporary_directory();
    raise(number);
}

/* Has the directory removed by signals that would end the process, not by those it ignores. */
static void handle_ending_signals(void) {
    struct sigaction action = {.sa_handler = remove_and_end, .sa_flags = (int)SA_RESETHAND};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof g_ending / sizeof *g_ending; i++) {
        struct sigaction before;
        if (sigaction(g_ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(g_ending[i], &action, NULL);
    }
}

int claunch_make_temporary_directory(char *pattern) {
    if (strlen(pattern) >= sizeof g_directory)
        return ENAMETOOLONG;
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    int error = mkdtemp(pattern) ? 0 : errno;
    if (error == 0) {
        chmod(pattern, 0700); /* whatever the umask says */
        strcpy(g_directory, pattern);
        g_owner = getpid();
        handle_ending_signals();
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return error;
}
