// 5 blocks of 1000 bytes and 15 of 12; frees 4 and 10 of them.
#include <stdlib.h>

int main(void) {
    void *large[5], *small[15];
    for (int i = 0; i < 5; i++)
        large[i] = malloc(1000);
    for (int i = 0; i < 15; i++)
        small[i] = malloc(12);
    for (int i = 0; i < 4; i++)
        free(large[i]);
    for (int i = 0; i < 10; i++)
        free(small[i]);
    return 0;
}
