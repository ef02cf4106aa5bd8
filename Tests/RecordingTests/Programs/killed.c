// Allocates until another thread kills the process. The file argv[1] counts the completed pairs
// of malloc(22001) and free: it is shared memory, so it survives the kill.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic unsigned long *completed;
static unsigned long limit;

static void *kill_later(void *argument) {
    (void)argument;
    while (atomic_load(completed) < limit) {
    }
    kill(getpid(), SIGKILL);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 64;
    limit = strtoul(argv[2], NULL, 10);
    int file = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0)
        return 1;
    completed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (completed == MAP_FAILED)
        return 1;
    atomic_store(completed, 0);
    pthread_t killer;
    pthread_create(&killer, NULL, kill_later, NULL);
    for (;;) {
        free(malloc(22001));
        atomic_fetch_add(completed, 1);
    }
}
