// Forks a child that frees a block twice, for which the C library ends it.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    if (fork() == 0) {
        void *freed = malloc(48018);
        free(freed);
        free(freed);
        _exit(0);
    }
    wait(NULL);
    return 0;
}
