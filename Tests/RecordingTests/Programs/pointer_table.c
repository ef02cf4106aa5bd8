/* One block of 100,000 pointers, far from each other: its image is far larger than all else that is
 * recorded. */
#include <stdlib.h>

enum { COUNT = 100000 };

static void **table;

int main(void) {
    table = malloc(COUNT * sizeof *table);
    for (size_t i = 0; i < COUNT; i++)
        table[i] = &table[i * 7919 % COUNT];
    return 0;
}
