// Fills chunks, ends a thread and leaves one running, then ends in the way that is asked for.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t ready;

static void allocate(int count) {
    for (int i = 0; i < count; i++) {
        void *block = malloc((size_t)(i * 7919 % 977));
        if (i % 64)
            free(block);
    }
}

static void *end(void *unused) {
    allocate(200);
    return unused;
}

static void *stay(void *unused) {
    allocate(200);
    pthread_barrier_wait(&ready);
    pause();
    return unused;
}

static void fork_child(void) {
    pid_t child = fork();
    if (child == 0) {
        allocate(100);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv) {
    pthread_t ended, running;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_create(&ended, NULL, end, NULL);
    pthread_join(ended, NULL);
    pthread_create(&running, NULL, stay, NULL);
    allocate(8000);
    pthread_barrier_wait(&ready);
    const char *way = argc > 1 ? argv[1] : "exit";
    if (strcmp(way, "killed") == 0)
        raise(SIGKILL);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(way, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    if (strcmp(way, "fork") == 0)
        fork_child();
    if (strcmp(way, "quick") == 0)
        quick_exit(0);
    return 0;
}
