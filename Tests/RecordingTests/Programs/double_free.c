// Frees one block twice, in two functions and two threads. The C library aborts the process.
#include <pthread.h>
#include <stdlib.h>

static void *block, *guard;

static void make_block(void) {
    block = malloc(27001);
    guard = malloc(27002);
}

static void *consume(void *argument) {
    free(block);
    return argument;
}

static void clean_up(void) {
    free(block);
}

int main(void) {
    make_block();
    pthread_t thread;
    if (pthread_create(&thread, NULL, consume, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    clean_up();
    free(guard);
    return 0;
}
