/* As servers do: writes what it is doing over its arguments, and goes on in a child. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    size_t room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);
    memset(argv[0], 0, room);
    strncpy(argv[0], "retitled: /etc/worker of all", room);
    pid_t child = fork();
    if (child == 0) {
        free(malloc(10001));
        return 0;
    }
    waitpid(child, NULL, 0);
    return 0;
}
