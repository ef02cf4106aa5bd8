/* Makes all keys for data of threads that there are, and uses them in threads that end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

enum { MOST = 2000, THREADS = 100 };

static pthread_key_t keys[MOST];
static int count;

static void end(void *value) {
    free(value);
}

static int make(const char *way) {
    if (strcmp(way, "tss_create") == 0)
        return tss_create(&keys[count], end) == thrd_success;
    return pthread_key_create(&keys[count], end) == 0;
}

static void *work(void *last) {
    long own = 0;
    for (int i = 0; i < count; i++)
        own += pthread_getspecific(keys[i]) == NULL;
    if (own == count)
        pthread_setspecific(*(pthread_key_t *)last, malloc(65001));
    return NULL;
}

int main(int argc, char **argv) {
    free(malloc(65002));
    while (argc == 2 && count < MOST && make(argv[1]))
        count++;
    printf("%d keys\n", count);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, &keys[i * count / THREADS]);
        pthread_join(thread, NULL);
    }
    pthread_key_delete(keys[5]);
    printf("%d\n", make(argv[1]));
    return 0;
}
