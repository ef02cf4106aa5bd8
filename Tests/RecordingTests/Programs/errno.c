// errno is what the program left in it, whatever is recorded.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    int wrong = 0;
    for (int i = 1; i < 100000; i++) {
        errno = 4242;
        void *block = malloc(i % 5000);
        wrong += errno != 4242;
        block = realloc(block, i % 7000 + 1);
        wrong += errno != 4242;
        free(block);
        wrong += errno != 4242;
    }
    errno = 0;
    volatile size_t huge = (size_t)1 << 62;
    void *failed = malloc(huge);
    wrong += failed != NULL || errno != ENOMEM;
    printf("%d wrong\n", wrong);
    return 0;
}
