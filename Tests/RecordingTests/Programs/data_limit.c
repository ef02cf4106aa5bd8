// Uses 3 MiB of data, and a thread.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 64, SIZE = 44001 };

static void *run(void *argument) {
    for (int i = 0; i < 1000; i++)
        free(malloc(44002));
    return argument;
}

static int use(void) {
    static void *blocks[BLOCKS];
    int count = 0;
    for (int i = 0; i < BLOCKS; i++)
        count += (blocks[i] = malloc(SIZE)) != NULL;
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return count;
}

int main(void) {
    int count = use();
    pthread_t thread;
    int error = pthread_create(&thread, NULL, run, NULL);
    if (error == 0)
        pthread_join(thread, NULL);
    printf("%d blocks, thread: %d\n", count, error);
    return 0;
}
