/* Leaves a pointer in memory that the buffer of stdout gets, which nobody clears. */
#include <stdio.h>
#include <stdlib.h>

static void *kept;

static void *__attribute__((noinline)) leak_behind_buffer(void) {
    return malloc(77);
}

/* Of each size that a stream may ask for; the small block keeps the memory from being merged. */
static void __attribute__((noinline)) fill(void) {
    for (size_t size = 1024; size <= BUFSIZ; size *= 2) {
        void **block = malloc(size);
        void *next = malloc(40);
        if (!block || !next)
            abort();
        for (size_t word = 8; word < size / sizeof(void *); word++)
            block[word] = kept;
        free(block);
        free(next);
    }
}

int main(void) {
    kept = leak_behind_buffer();
    fill();
    kept = NULL;
    puts("a line");
    return 0;
}
