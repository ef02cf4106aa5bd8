// Many threads at once, each of which allocates little, at several depths of the stack.
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 200, EVENTS = 100, PLACES = 25 };

static pthread_barrier_t all_have_allocated;

__attribute__((noinline)) static void *allocate_below(int frames) {
    void *volatile block = frames == 0 ? malloc(16) : allocate_below(frames - 1);
    return block;
}

static void *live(void *unused) {
    for (int i = 0; i < EVENTS / 2; i++)
        free(allocate_below(i % PLACES));
    pthread_barrier_wait(&all_have_allocated);
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_have_allocated, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, live, NULL) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
