// Starts the program argv[1] as a child, and goes on.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 2)
        return 64;
    free(malloc(34001));
    pid_t child = fork();
    if (child == 0) {
        execv(argv[1], argv + 1);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    free(malloc(34002));
    printf("child %d\n", WEXITSTATUS(status));
    return 0;
}
