// Allocates with the C library of the namespace that it is in.
#include <stdlib.h>

int work(void) {
    void *volatile blocks[10];
    for (int i = 0; i < 10; i++)
        blocks[i] = malloc(1002);
    for (int i = 0; i < 10; i++)
        free(blocks[i]);
    return 42;
}
