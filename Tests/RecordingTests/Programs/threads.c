// argv[1] short-lived threads, at most argv[2] at once; each allocates, and frees its neighbour's.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic(void *) handed_over;

static void *work(void *argument) {
    (void)argument;
    free(malloc(16001));
    free(atomic_exchange(&handed_over, malloc(16002)));
    return NULL;
}

int main(int argc, char **argv) {
    int total = argc > 1 ? atoi(argv[1]) : 1, at_once = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t *threads = calloc(at_once, sizeof *threads);
    for (int begun = 0; begun < total;) {
        int count = total - begun < at_once ? total - begun : at_once;
        for (int i = 0; i < count; i++)
            if (pthread_create(&threads[i], NULL, work, NULL) != 0)
                return 1;
        for (int i = 0; i < count; i++)
            pthread_join(threads[i], NULL);
        begun += count;
    }
    free(atomic_exchange(&handed_over, NULL));
    free(threads);
    puts("done");
    return 0;
}
