// Starts itself in the way that argv[1] names; the child allocates 13001 bytes.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pid_t start(const char *way, char *self) {
    char *arguments[] = {self, "child", NULL};
    char *empty[] = {NULL};
    pid_t child = -1;
    if (strcmp(way, "vfork") == 0) {
        child = vfork();
        if (child == 0) {
            execv("/proc/self/exe", arguments);
            _exit(127);
        }
    } else if (strcmp(way, "posix_spawn") == 0) {
        if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) != 0)
            return -1;
    } else if (strcmp(way, "posix_spawn-empty") == 0) {
        if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, empty) != 0)
            return -1;
    } else if (strcmp(way, "execve-empty") == 0) {
        child = fork();
        if (child == 0) {
            execve("/proc/self/exe", arguments, empty);
            _exit(127);
        }
    } else if (strcmp(way, "fexecve") == 0) {
        child = fork();
        if (child == 0) {
            FILE *file = fopen("/proc/self/exe", "re");
            fexecve(fileno(file), arguments, environ);
            _exit(127);
        }
    } else if (strcmp(way, "vfork-failing") == 0) {
        child = vfork();
        if (child == 0) {
            execv("/nonexistent/program", arguments);
            _exit(3);
        }
    } else if (strcmp(way, "system") == 0) {
        char line[4096];
        snprintf(line, sizeof line, "%s child", self);
        int status = system(line);
        printf("%s: %d\n", way, WEXITSTATUS(status));
        exit(0);
    } else if (strcmp(way, "popen") == 0) {
        char line[4096];
        snprintf(line, sizeof line, "%s child", self);
        FILE *pipe = popen(line, "r");
        int status = pclose(pipe);
        printf("%s: %d\n", way, WEXITSTATUS(status));
        exit(0);
    }
    return child;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 64;
    if (strcmp(argv[1], "child") == 0) {
        free(malloc(13001));
        return 6;
    }
    free(malloc(13002));
    pid_t child = start(argv[1], argv[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    free(malloc(13003));
    printf("%s: %d\n", argv[1], WEXITSTATUS(status));
    return 0;
}
