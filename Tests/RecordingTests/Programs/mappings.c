// Maps memory and unmaps it; argv[1] says what, the command in argv[2], if any, is run before, with
// the process ID as MARKED_PID. What it prints is the same in each run.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 500 };

__attribute__((noinline)) static char *new_arena(size_t length) {
    return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

__attribute__((noinline)) static char *load(const char *path) {
    int file = open(path, O_RDONLY);
    char *text = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    return text;
}

static void sequence(void) {
    char *kept = new_arena(16 * PAGE), *part = new_arena(10 * PAGE);
    for (int i = 0; i < 3; i++)
        munmap(new_arena(5 * PAGE), 5 * PAGE);
    munmap(part + 2 * PAGE, 3 * PAGE);
    char *text = load("/etc/passwd");
    char *heap =
        mmap(NULL, 1000 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(heap, 20 * PAGE, PROT_READ | PROT_WRITE);
    mmap(heap + 100 * PAGE, 7 * PAGE, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    char *grown = mremap(new_arena(PAGE), PAGE, 30 * PAGE, MREMAP_MAYMOVE);
    int ring = memfd_create("ring", 0);
    ftruncate(ring, PAGE);
    char *shared = mmap64(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
    sbrk(3 * PAGE);
    sbrk(-PAGE);
    kept[0] = part[0] = heap[0] = grown[29 * PAGE] = shared[0] = 'x';
    printf("%c%c\n", text[0], kept[0]);
}

// What fails is not recorded, and fails as it would.
static void failures(void) {
    char *kept = new_arena(PAGE);
    errno = 0;
    void *none = mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%d %d\n", none == MAP_FAILED, errno);
    none = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 9999, 0);
    printf("%d %d\n", none == MAP_FAILED, errno);
    printf("%d %d\n", munmap(kept + 1, PAGE), errno);
    printf("%d %d\n", mprotect(kept + 1, PAGE, PROT_READ), errno);
    none = mremap(kept, PAGE, 2 * PAGE, 1 << 20);
    printf("%d %d\n", none == MAP_FAILED, errno);
    errno = 77;
    munmap(new_arena(PAGE), PAGE);
    printf("%d\n", errno);
}

static void *map_and_unmap(void *argument) {
    for (int i = 0; i < ROUNDS; i++)
        munmap(new_arena(PAGE), PAGE);
    return argument;
}

static void threads(void) {
    pthread_t started[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&started[i], NULL, map_and_unmap, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(started[i], NULL);
}

static void forks(void) {
    char *inherited = new_arena(4 * PAGE);
    pid_t child = fork();
    if (child == 0) {
        munmap(inherited, 4 * PAGE);
        new_arena(9 * PAGE);
        _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
}

int main(int count, char **arguments) {
    const char *which = arguments[1];
    if (count > 2) {
        char pid[32];
        snprintf(pid, sizeof pid, "%d", (int)getpid());
        setenv("MARKED_PID", pid, 1);
        if (system(arguments[2]) != 0)
            return 1;
    }
    if (strcmp(which, "sequence") == 0)
        sequence();
    else if (strcmp(which, "failures") == 0)
        failures();
    else if (strcmp(which, "threads") == 0)
        threads();
    else if (strcmp(which, "forks") == 0)
        forks();
    return 0;
}
