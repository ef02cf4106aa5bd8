// Starts a program and has all descriptors closed in it up to the highest that is open.
#include <dirent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static int highest_descriptor(void) {
    DIR *folder = opendir("/proc/self/fd");
    int highest = 2;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (atoi(entry->d_name) > highest)
            highest = atoi(entry->d_name);
    closedir(folder);
    return highest;
}

int main(void) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int fd = 3; fd <= highest_descriptor(); fd++) {
        int error = posix_spawn_file_actions_addclose(&actions, fd);
        if (error)
            return printf("%d: %s\n", fd, strerror(error)), 1;
    }
    pid_t child;
    int status;
    int error = posix_spawn(&child, "/bin/echo", &actions, NULL,
                            (char *[]){"/bin/echo", "started", NULL}, environ);
    if (error)
        return printf("not started: %s\n", strerror(error)), 1;
    waitpid(child, &status, 0);
    printf("status %d\n", WEXITSTATUS(status));
    return 0;
}
