// Replaces itself argv[1] times, and allocates each time.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int left = argc > 1 ? atoi(argv[1]) : 0;
    free(malloc(15001));
    if (left == 0) {
        puts("done");
        return 9;
    }
    char next[16];
    snprintf(next, sizeof next, "%d", left - 1);
    char *arguments[] = {argv[0], next, NULL};
    execv("/proc/self/exe", arguments);
    return 1;
}
