// Recorded in parts; argv[1] says how. Sizes tell what is to be in the trace: 31000 and more are
// allocated while recording is not paused, 21000 and more while it is.
#define _GNU_SOURCE
#include <malloc.h>
#include <memtrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *in, *out, *kept[400];

// What one part allocated is freed in the other; reallocs go from one to the other, and stay.
static void both_ways(void) {
    out = malloc(21001);
    void *grown_out = malloc(21002);
    void *grown_away = malloc(21003);
    MEMTRACE_RESUME();
    MEMTRACE_RESUME(); // changes nothing
    in = malloc(31001);
    free(out);
    grown_out = realloc(grown_out, 31002);
    void *shrunk = malloc(31003);
    void *stays = realloc(malloc(31004), 31005);
    void *failed = malloc(31006);
    MEMTRACE_PAUSE();
    MEMTRACE_PAUSE();
    free(in);
    free(realloc(shrunk, 21004));
    grown_away = realloc(grown_away, 21005);
    if (realloc(failed, (size_t)1 << 62))
        puts("unexpected");
    free(failed);
    MEMTRACE_RESUME();
    free(stays);
    free(grown_out);
    free(grown_away);
    kept[0] = malloc(31007);
}

static void every_function(size_t size) {
    int count = 0;
    void *block = NULL;
    kept[count++] = malloc(size);
    kept[count++] = calloc(1, size + 1);
    kept[count++] = realloc(NULL, size + 2);
    kept[count++] = reallocarray(NULL, 1, size + 3);
    if (posix_memalign(&block, 64, size + 4) == 0)
        kept[count++] = block;
    kept[count++] = aligned_alloc(64, size + 5);
    kept[count++] = memalign(64, size + 6);
    kept[count++] = valloc(size + 7);
    kept[count++] = pvalloc(size + 8);
    while (count > 0)
        free(kept[--count]);
}

static void functions(void) {
    every_function(21100);
    MEMTRACE_RESUME();
    every_function(31100);
    MEMTRACE_PAUSE();
    every_function(21200);
}

// Small blocks, so that threads look now and then whether recording is paused.
static void small(int count) {
    for (int i = 0; i < count; i++)
        free(malloc(24));
}

static pthread_barrier_t barrier;

static void *work(void *argument) {
    small(1000);
    pthread_barrier_wait(&barrier); // resumed behind it
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 50; i++)
        free(malloc(31201));
    void *block = malloc(31202);
    pthread_barrier_wait(&barrier); // paused behind it
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 50; i++)
        free(malloc(21201));
    free(block);
    return argument;
}

static void *born(void *argument) {
    free(malloc(31203));
    return argument;
}

static void threads(void) {
    enum { COUNT = 4 };
    pthread_t others[COUNT], late;
    pthread_barrier_init(&barrier, NULL, COUNT + 1);
    for (int i = 0; i < COUNT; i++)
        pthread_create(&others[i], NULL, work, NULL);
    pthread_barrier_wait(&barrier);
    MEMTRACE_RESUME();
    pthread_create(&late, NULL, born, NULL);
    pthread_join(late, NULL);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    MEMTRACE_PAUSE();
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < COUNT; i++)
        pthread_join(others[i], NULL);
}

static void *use_heap(void *block) {
    free(malloc(21701));
    small(1000);
    free(block);
    return NULL;
}

// Many threads while recording is paused; one of them frees what was recorded.
static void unseen_threads(void) {
    pthread_t other;
    MEMTRACE_RESUME();
    void *block = malloc(31701);
    MEMTRACE_PAUSE();
    for (int i = 0; i < 100; i++) {
        pthread_create(&other, NULL, use_heap, i == 50 ? block : NULL);
        pthread_join(other, NULL);
    }
}

// A child goes on as its parent was, and for itself.
static void forks(void) {
    MEMTRACE_RESUME();
    void *shared = malloc(31301);
    pid_t child = fork();
    if (child == 0) {
        free(malloc(31302));
        free(shared);
        MEMTRACE_PAUSE();
        free(malloc(21302));
        _exit(0);
    }
    waitpid(child, NULL, 0);
    free(malloc(31303));
    MEMTRACE_PAUSE();
    child = fork();
    if (child == 0) {
        free(malloc(21303));
        MEMTRACE_RESUME();
        free(malloc(31304));
        _exit(0);
    }
    waitpid(child, NULL, 0);
    free(malloc(21304));
    free(shared);
}

static void **holder;

__attribute__((noinline)) static void lose(void) {
    void **block = malloc(31401);
    block[0] = malloc(31402);
    block[1] = NULL;
}

__attribute__((noinline)) static void wipe(void) {
    char used[4096];
    memset(used, 0, sizeof used);
    __asm__ volatile("" ::"r"(used) : "memory");
}

// A block that only one points to which is not in the trace is no leak.
static void leaks(void) {
    holder = calloc(21401, 1);
    MEMTRACE_RESUME();
    holder[7] = malloc(31403);
    lose();
    wipe();
    MEMTRACE_PAUSE();
}

static void runs_itself(char *program) {
    MEMTRACE_RESUME();
    free(malloc(31501));
    execl(program, program, "executed", (char *)NULL);
}

static void samples(void) {
    small(100000);
    MEMTRACE_RESUME();
    for (int i = 0; i < 20000; i++)
        free(malloc(1000));
    MEMTRACE_PAUSE();
    for (int i = 0; i < 20000; i++)
        free(malloc(2000));
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    if (strcmp(which, "both-ways") == 0)
        both_ways();
    if (strcmp(which, "functions") == 0)
        functions();
    if (strcmp(which, "threads") == 0)
        threads();
    if (strcmp(which, "unseen") == 0)
        unseen_threads();
    if (strcmp(which, "forks") == 0)
        forks();
    if (strcmp(which, "leaks") == 0)
        leaks();
    if (strcmp(which, "exec") == 0)
        runs_itself(argv[0]);
    if (strcmp(which, "executed") == 0)
        free(malloc(21501));
    if (strcmp(which, "samples") == 0)
        samples();
    if (strcmp(which, "never") == 0)
        kept[0] = malloc(21601);
    puts("done");
    return 0;
}
