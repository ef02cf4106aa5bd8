// Uses the functions of allocators that announce their blocks in the way that its argument says.
#include <memtrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void heaptrack_malloc(void *, size_t) __attribute__((weak));
void heaptrack_realloc(void *, size_t, void *) __attribute__((weak));
void heaptrack_free(void *) __attribute__((weak));

enum { THREADS = 4, ROUNDS = 5000, SLOTS = 64 };

static char *memory;

static void take(char *block) {
    MEMTRACE_ALLOCATED(block, 32);
}

static void give(char *block) {
    MEMTRACE_FREED(block);
}

static void give_again(char *block) {
    MEMTRACE_FREED(block);
}

/* ---- A pool that threads share: each takes what another has given ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *slots[SLOTS];
static int free_count;

static void *share(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        char *block = slots[--free_count];
        pthread_mutex_unlock(&lock);
        take(block);
        memset(block, round, 32);
        give(block);
        pthread_mutex_lock(&lock);
        slots[free_count++] = block;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void run_threads(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < SLOTS; i++)
        slots[free_count++] = memory + i * 64;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, share, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- The pool goes before its blocks, in another thread ---- */

static void *free_pool(void *pool) {
    free(pool);
    return NULL;
}

static void hand_over(void) {
    for (int round = 0; round < 200; round++) {
        char *pool = malloc(2000);
        take(pool + 16);
        give(pool + 16);
        pthread_t thread;
        pthread_create(&thread, NULL, free_pool, pool);
        pthread_join(thread, NULL);
    }
}

static void fork_child(void) {
    take(memory);
    fflush(stdout);
    if (fork() == 0) {
        give(memory);
        take(memory + 64);
        exit(0);
    }
    wait(NULL);
}

static void use_heaptrack(void) {
    if (!heaptrack_malloc || !heaptrack_realloc || !heaptrack_free)
        return;
    heaptrack_malloc(memory, 10);
    heaptrack_realloc(memory, 20, memory + 64);
    heaptrack_realloc(NULL, 30, memory + 128);
    heaptrack_free(memory + 64);
    heaptrack_free(NULL);
    heaptrack_malloc(NULL, 10);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "none";
    memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (strcmp(what, "twice") == 0) {
        take(memory);
        give(memory);
        give_again(memory);
    } else if (strcmp(what, "unknown") == 0) {
        give(memory);
    } else if (strcmp(what, "malloc") == 0) {
        char *block = malloc(24);
        give(block);
        free(block);
    } else if (strcmp(what, "free") == 0) {
        take(memory + 64);
        free(memory + 64); /* the C library aborts */
    } else if (strcmp(what, "pool") == 0) {
        char *pool = malloc(2000);
        take(pool + 64);
        free_pool(pool);
        give(pool + 64);
    } else if (strcmp(what, "threads") == 0) {
        run_threads();
    } else if (strcmp(what, "over") == 0) {
        hand_over();
    } else if (strcmp(what, "fork") == 0) {
        fork_child();
    } else if (strcmp(what, "heaptrack") == 0) {
        use_heaptrack();
    } else if (strcmp(what, "arena") == 0) {
        for (int round = 0; round < 10; round++) {
            char *arena = malloc(4000);
            for (int i = 0; i < 20; i++)
                take(arena + i * 48);
            free(arena);
        }
    }
    puts(what);
    return 0;
}
