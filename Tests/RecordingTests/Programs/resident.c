// Has much memory of its own, then ends in several ways.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 256 << 20, THREADS = 40 };

static void have(void) {
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(1);
    memset(memory, 1, BYTES);
    munmap(memory, BYTES);
}

static pthread_barrier_t all_have_allocated;

static void *allocate(void *unused) {
    free(malloc(10));
    pthread_barrier_wait(&all_have_allocated);
    return unused;
}

/* Each thread begins a chunk of the trace. */
static void begin_threads(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_have_allocated, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, allocate, NULL) != 0)
            exit(1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    if (strcmp(how, "nothing") == 0)
        return 0;
    have();
    if (strcmp(how, "exec") == 0)
        execl("/proc/self/exe", arguments[0], "nothing", (char *)NULL);
    if (strcmp(how, "kill") == 0) {
        begin_threads();
        kill(getpid(), SIGKILL);
    }
    return 0;
}
