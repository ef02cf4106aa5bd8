// Executes a program that is named from another folder, or by a raw number: way, folder, name.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// Returns the error of what does not come back.
static int by_number(const char *way, const char *folder, char **arguments) {
    if (strcmp(way, "execve") == 0) {
        if (chdir(folder) != 0)
            return errno;
        syscall(SYS_execve, arguments[0], arguments, environ);
    } else {
        syscall(SYS_execveat, open(folder, O_PATH | O_CLOEXEC), arguments[0], arguments, environ,
                0);
    }
    return errno;
}

static int spawned(const char *way, const char *folder, char **arguments, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (strcmp(way, "fchdir") == 0) {
        posix_spawn_file_actions_addfchdir_np(&actions, open(folder, O_PATH));
    } else {
        posix_spawn_file_actions_addchdir_np(&actions, "/");
        posix_spawn_file_actions_addchdir_np(&actions, folder + 1);
    }
    int error = strcmp(way, "spawnp") == 0
                    ? posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ)
                    : posix_spawn(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int main(int count, char **arguments) {
    if (count < 4)
        return 64;
    pid_t child = -1;
    int error = 0, status = 0;
    if (strncmp(arguments[1], "exec", 4) == 0) {
        if ((child = fork()) == 0)
            _exit(by_number(arguments[1], arguments[2], arguments + 3));
    } else {
        error = spawned(arguments[1], arguments[2], arguments + 3, &child);
    }
    if (child > 0)
        waitpid(child, &status, 0);
    free(malloc(45001));
    printf("%s, status %d\n", strerrorname_np(error), WEXITSTATUS(status));
    return 0;
}
