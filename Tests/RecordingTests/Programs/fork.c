// A child frees a block that it inherited; both go on allocating.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    void *inherited = malloc(12001);
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return 1;
    if (child == 0) {
        free(inherited);
        free(malloc(12002));
        return 7;
    }
    int status = 0;
    waitpid(child, &status, 0);
    free(inherited);
    free(malloc(12003));
    printf("child %d\n", WEXITSTATUS(status));
    return 0;
}
