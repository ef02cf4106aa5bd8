// Goes on after a heap image that does not fit on the disk: abort() is over when that is written,
// its handler jumps away. Then eight threads, all there at once, allocate 40001 bytes.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTERS = 1 << 19, THREADS = 8 };
static sigjmp_buf back;
static pthread_barrier_t end;

static void handle(int number) {
    siglongjmp(back, 1);
}

static void *allocate(void *argument) {
    for (int i = 0; i < 10; i++)
        free(malloc(40001));
    pthread_barrier_wait(&end);
    return argument;
}

static void run_threads(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&end, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void) {
    unsigned seed = 1;
    void **pointers = malloc(POINTERS * sizeof *pointers);
    for (int i = 0; i < POINTERS; i++) {
        seed = seed * 1103515245u + 12345u;
        pointers[i] = &pointers[seed / 4096 % POINTERS];
    }
    signal(SIGABRT, handle);
    if (sigsetjmp(back, 1) == 0)
        abort();
    run_threads();
    puts("done");
    return 0;
}
