/* Keys for data of threads: one that was never made, the first ones, and values in destructors. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t keys[3];

static void end(void *value) {
    free(value);
    free(malloc(65002));
}

static void *work(void *unused) {
    for (int i = 0; i < 3; i++)
        pthread_setspecific(keys[i], malloc(65001));
    return unused;
}

int main(void) {
    pthread_key_t never_made = 0;
    free(malloc(65003));
    printf("%p\n", pthread_getspecific(never_made));
    printf("%d\n", pthread_setspecific(never_made, "value"));
    printf("%d\n", pthread_key_delete(never_made));
    for (int i = 0; i < 3; i++) {
        pthread_key_create(&keys[i], end);
        printf("key %d\n", (int)keys[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
