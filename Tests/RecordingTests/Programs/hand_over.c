// Threads pass blocks of one size around, so that addresses change hands all the time.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, ROUNDS = 20000, SLOTS = 16 };
static _Atomic(void *) slots[SLOTS];

static void *work(void *argument) {
    unsigned seed = (unsigned)(size_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1103515245u + 12345u;
        void *block = atomic_exchange(&slots[seed / 65536 % SLOTS], NULL);
        if (block == NULL)
            block = malloc(40);
        else if (seed & 1)
            block = realloc(block, 40 + seed / 131072 % 64);
        else {
            free(block);
            block = malloc(40);
        }
        free(atomic_exchange(&slots[seed / 1048576 % SLOTS], block));
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SLOTS; i++)
        free(slots[i]);
    puts("done");
    return 0;
}
