// A child frees a block of its parent twice; the C library aborts it.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void consume(void *block) {
    free(block);
}

static void clean_up(void *block) {
    free(block);
}

int main(void) {
    void *inherited = malloc(43001);
    void *guard = malloc(43002);
    pid_t child = fork();
    if (child < 0)
        return 1;
    if (child == 0) {
        consume(inherited);
        clean_up(inherited);
        return 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    free(inherited);
    free(guard);
    printf("child %d\n", WTERMSIG(status));
    return 0;
}
