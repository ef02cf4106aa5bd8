/* A thread frees all that it has allocated and ends: in its arena of glibc no block is live. What
 * is left there holds nothing, and what leads there leads to a freed block.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *volatile dangling;

static void *run(void *lost) {
    void **box = malloc(400);
    box[20] = lost;
    dangling = box;
    free(box);
    return NULL;
}

__attribute__((noinline)) static void leak_in_arena(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, malloc(1000)) == 0)
        pthread_join(thread, NULL);
}

__attribute__((noinline)) static void overwrite_stack(void) {
    char *volatile slots[1024];
    for (int i = 0; i < 1024; i++)
        slots[i] = NULL;
    (void)slots[0];
}

int main(void) {
    leak_in_arena();
    overwrite_stack();
    return 0;
}
