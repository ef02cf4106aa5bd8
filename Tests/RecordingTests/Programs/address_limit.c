// Limits its addresses to 300 MiB when it has used some memory, and uses more then, in two threads.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { BLOCKS = 100, SIZE = 48001 };

static void *use(void *argument) {
    char *blocks[BLOCKS];
    long count = 0;
    for (int i = 0; i < BLOCKS; i++)
        if ((blocks[i] = malloc(SIZE)) != NULL)
            count += (memset(blocks[i], 1, SIZE), 1);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    (void)argument;
    return (void *)count;
}

int main(void) {
    char *before = malloc(SIZE);
    memset(before, 2, SIZE);
    struct rlimit limit = {300 << 20, RLIM_INFINITY};
    int error = setrlimit(RLIMIT_AS, &limit);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_t thread;
    void *there = NULL;
    int failure = pthread_create(&thread, &small, use, NULL);
    if (failure == 0)
        pthread_join(thread, &there);
    long here = (long)use(NULL);
    void *pages = mmap(NULL, 64 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%d: %ld here, %ld there, pages: %d, before: %d\n", error, here, (long)there,
           pages != MAP_FAILED, before[SIZE - 1]);
    free(before);
    return 0;
}
