/* The first thread ends; another one goes on, until it is killed. */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void *go_on(void *unused) {
    for (;;)
        pause();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, go_on, NULL);
    pthread_exit(NULL);
}
