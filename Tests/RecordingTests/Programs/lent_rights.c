// Becomes another user for a while, as servers do between their clients: only effectively ("user"),
// or only its group ("group"). Says whether that one may make files where it runs, and forks. The
// child allocates.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int is_group = argc > 1 && strcmp(argv[1], "group") == 0;
    if (is_group ? setegid(65534) != 0 : seteuid(65534) != 0)
        return 1;
    char *folder = realpath(".", NULL);
    int may = folder && faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0;
    puts(may ? "may" : "may not");
    fflush(stdout);
    free(folder);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; i++)
            free(malloc(45002));
        _exit(8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status != 8 << 8;
}
