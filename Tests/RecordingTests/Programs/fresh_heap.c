/* Prints where in its page the first block lies, and what the first blocks of each size hold that
 * nobody has written: the place of 16 bytes, and the words that are not zero. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 64, OF_EACH = 3 };

int main(void) {
    static size_t places[SIZES][OF_EACH], words[SIZES][OF_EACH];
    for (size_t size = 0; size < SIZES; size++)
        for (int number = 0; number < OF_EACH; number++) {
            volatile size_t *block = malloc(size * 16 + 8);
            places[size][number] = (uintptr_t)block % 4096;
            for (size_t word = 0; word < size * 2 + 1; word++)
                words[size][number] += block[word] != 0;
        }
    for (size_t size = 0; size < SIZES; size++)
        for (int number = 0; number < OF_EACH; number++)
            printf("%zu bytes at %zu, %zu words\n", size * 16 + 8, places[size][number],
                   words[size][number]);
    return 0;
}
