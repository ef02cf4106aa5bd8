// Executes itself with as much of an environment as there is room for, and with more than that, in
// the way it is told to.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 256 << 10, LONGEST = 100 << 10, MARGIN = 200 };

extern char **environ;

static int run(const char *way, char **arguments, char **environment) {
    const char *path = arguments[0];
    volatile int error = 0; // a vfork child sets it, too
    pid_t child = -1;
    if (strcmp(way, "posix_spawn") == 0)
        error = posix_spawn(&child, path, NULL, NULL, arguments, environment);
    else if (strcmp(way, "posix_spawnp") == 0)
        error = posix_spawnp(&child, path, NULL, NULL, arguments, environment);
    else if ((child = vfork()) == 0) {
        if (strcmp(way, "execve") == 0)
            execve(path, arguments, environment);
        else if (strcmp(way, "execvpe") == 0)
            execvpe(path, arguments, environment);
        else if (strcmp(way, "execveat") == 0)
            execveat(AT_FDCWD, path, arguments, environment, 0);
        else
            fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, environment);
        error = errno;
        _exit(100);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    return error;
}

// A variable that takes so many bytes with its pointer.
static char *variable(size_t room) {
    char *text = malloc(room);
    memset(text, 'x', room);
    text[1] = '=';
    text[room - sizeof(char *) - 1] = 0;
    return text;
}

int main(int count, char **arguments) {
    if (count == 3) {
        size_t length = 0;
        for (char **at = environ; *at; at++)
            if (strncmp(*at, "x=", 2) == 0)
                length += strlen(*at);
        printf("%s: %zu bytes\n", arguments[1], length);
        return 0;
    }
    // A fourth of the stack is for arguments and environment.
    struct rlimit limit = {4 * ROOM, RLIM_INFINITY};
    setrlimit(RLIMIT_STACK, &limit);
    for (int more = -MARGIN; more <= MARGIN; more += 2 * MARGIN) {
        char *child[] = {arguments[0], arguments[1], "child", NULL}, *environment[4] = {NULL};
        size_t left = ROOM + more - strlen(arguments[0]);
        for (char **at = child; *at; at++)
            left -= sizeof *at + strlen(*at) + 1;
        for (int i = 0; i < 2; i++, left -= LONGEST)
            environment[i] = variable(LONGEST);
        environment[2] = variable(left);
        printf("%s\n", strerrorname_np(run(arguments[1], child, environment)));
        fflush(stdout);
    }
    return 0;
}
