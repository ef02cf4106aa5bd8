// Frees a block twice by a function that frees what its callers give it, which two functions call;
// with an argument in one call of it.
#include <stdlib.h>

static void tool_free(void *freed, int twice) {
    free(freed);
    if (twice)
        free(freed);
}

static void close_first(void *freed, int twice) {
    tool_free(freed, twice);
}

static void close_second(void *freed) {
    tool_free(freed, 0);
}

int main(int argc, char **argv) {
    void *freed = malloc(48017);
    (void)argv;
    close_first(freed, argc > 1);
    close_second(freed);
    return 0;
}
