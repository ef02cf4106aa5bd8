// Marked from outside and inside; argv[1] says how. With "outside", runs the command in argv[2]
// between its allocations, with its process ID as MARKED_PID.
#include <memtrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *kept[4000];
static int count;

static void keep(int blocks, size_t size) {
    for (int i = 0; i < blocks; i++)
        kept[count++] = malloc(size);
}

static void *mark_first(void *argument) {
    MEMTRACE_MARK("first");
    return argument;
}

static void *keep_many(void *argument) {
    pthread_barrier_t *barrier = argument;
    pthread_barrier_wait(barrier);
    for (int i = 0; i < 500; i++)
        free(malloc(33009));
    return argument;
}

// Marks while two threads allocate and free all the time.
static void among_threads(void) {
    pthread_barrier_t barrier;
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, keep_many, &barrier);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 100; i++) {
        char name[20];
        snprintf(name, sizeof name, "m%d", i);
        MEMTRACE_MARK(name);
        keep(1, 33001);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    char pid[20];
    keep(10, 33001);
    if (strcmp(which, "inside") == 0)
        for (int i = 0; i < 1000; i++) {
            char name[20];
            snprintf(name, sizeof name, "m%d", i);
            MEMTRACE_MARK(name);
            keep(1, 33002);
        }
    if (strcmp(which, "first") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, mark_first, NULL);
        pthread_join(thread, NULL);
    }
    if (strcmp(which, "threads") == 0)
        among_threads();
    if (strcmp(which, "not-dumpable") == 0)
        prctl(PR_SET_DUMPABLE, 0);
    if (argc > 2) {
        snprintf(pid, sizeof pid, "%d", getpid());
        setenv("MARKED_PID", pid, 1);
        int status = system(argv[2]);
        keep(20, 33003);
        status += system(argv[3]);
        keep(30, 33004);
        printf("status %d\n", status);
    }
    return 0;
}
