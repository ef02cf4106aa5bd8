// Starts argv[1] threads at once, three times; each allocates and ends when all others have. Says
// whether more than argv[2] KiB a thread are in memory when they have ended.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t all;

static void *run(void *argument) {
    for (int i = 0; i < 100; i++)
        free(malloc(47001));
    pthread_barrier_wait(&all);
    return NULL;
}

static long private_kilobytes(void) {
    char line[256];
    long anonymous = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        sscanf(line, "RssAnon: %ld", &anonymous);
    fclose(file);
    return anonymous;
}

int main(int argc, char **argv) {
    enum { MOST = 1000 };
    pthread_t threads[MOST];
    int count = atoi(argv[1]);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    long before = private_kilobytes();
    for (int round = 0; round < 3; round++) {
        pthread_barrier_init(&all, NULL, count);
        for (int i = 0; i < count; i++)
            if (pthread_create(&threads[i], &small, run, NULL) != 0)
                return 1;
        for (int i = 0; i < count; i++)
            pthread_join(threads[i], NULL);
    }
    long added = private_kilobytes() - before;
    if (added > count * atol(argv[2]))
        printf("%ld KiB in memory\n", added);
    puts("ended");
    return 0;
}
