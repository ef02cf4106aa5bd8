/* Counts what is allocated, and calls the C library by a name that no preloaded library comes
 * between. So a recorder sees the frees, but not the allocations: also in a child. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);

static unsigned count;

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

static void allocate_again(size_t size) {
    for (int i = 0; i < 3; i++) {
        char *volatile block = malloc(size);
        block[0] = 1;
        free(block);
    }
}

int main(void) {
    char *volatile block = calloc(1, 1001);
    free(block);
    unsigned before = count;
    allocate_again(1001);
    pid_t child = fork();
    if (child == 0) {
        allocate_again(2002);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    char text[32];
    int length = snprintf(text, sizeof text, "%u\n", count - before);
    return write(1, text, (size_t)length) == length ? 0 : 1;
}
