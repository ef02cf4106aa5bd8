// Known totals: 300 000 blocks of 24 bytes, freed at once; 20 000 of 1000 bytes, every second one
// kept; a buffer grown in 2000 steps of 500 bytes; 10 000 aligned blocks of 640, 704 and 768 bytes
// each, freed at once; by as many threads as argv[1] says, each all of it.
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void short_lived(void) {
    for (int i = 0; i < 300000; i++)
        free(malloc(24));
}

static void every_second(void) {
    static __thread void *kept[20000];
    for (int i = 0; i < 20000; i++)
        kept[i] = malloc(1000);
    for (int i = 0; i < 20000; i += 2)
        free(kept[i]);
}

static void growing(void) {
    char *buffer = NULL;
    for (int i = 1; i <= 2000; i++)
        buffer = realloc(buffer, i * 500);
    buffer = realloc(buffer, 40);
    free(buffer);
}

static void aligned(void) {
    for (int i = 0; i < 10000; i++) {
        void *block = NULL;
        if (posix_memalign(&block, 64, 640) != 0)
            abort();
        free(block);
        free(aligned_alloc(64, 704));
        free(memalign(64, 768));
    }
}

static void *work(void *argument) {
    short_lived();
    every_second();
    growing();
    aligned();
    return argument;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t threads[64];
    for (int i = 1; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    work(NULL);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
