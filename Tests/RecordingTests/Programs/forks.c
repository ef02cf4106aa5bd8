// Forks argv[1] children, each of which allocates once; at most 8 at a time.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int reap(void) {
    int status = 0;
    return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 5;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1, running = 0, good = 0;
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child < 0)
            return 1;
        if (child == 0) {
            free(malloc(14001));
            _exit(5);
        }
        if (++running == 8) {
            good += reap();
            running--;
        }
    }
    while (running-- > 0)
        good += reap();
    printf("%d children\n", good);
    return 0;
}
