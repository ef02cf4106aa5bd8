// argv[1] pairs of malloc and free over many sizes, then one block of 30001 bytes that it keeps.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    long pairs = argc > 1 ? atol(argv[1]) : 1;
    void *held[64] = {0};
    unsigned seed = 1;
    for (long i = 0; i < pairs; i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned slot = seed / 65536 % 64;
        free(held[slot]);
        held[slot] = malloc(seed / 4096 % 4000 + 1);
        if (held[slot] == NULL)
            return 1;
    }
    for (int i = 0; i < 64; i++)
        free(held[i]);
    if (malloc(30001) == NULL)
        return 1;
    printf("%ld pairs\n", pairs);
    return 0;
}
