// Forks at the bottom of a recursion. The stacks there are met before the fork (38001 bytes), in
// the child (38002), and in the parent after it (38003): they are the same ones.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 300 };

__attribute__((noinline)) static void allocate(int size) {
    free(malloc(size));
}

static int bottom(void) {
    int status = 0;
    pid_t child = -1;
    for (int size = 38001; size <= 38003; size++) {
        if (size == 38002)
            child = fork();
        if (size == 38001 || (size == 38002) == (child == 0))
            allocate(size);
    }
    if (child == 0)
        _exit(3);
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

__attribute__((noinline)) static int down(int depth) {
    int result;
    if (depth == DEPTH)
        return bottom();
    free(malloc(10 + depth)); // IDs of the parent's alone
    result = down(depth + 1);
    return result;
}

int main(void) {
    printf("child: %d\n", down(0));
    return 0;
}
