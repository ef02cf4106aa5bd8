// Writes past the end of a block, in the way that it is told; its size and what it was given are
// printed.
#define _GNU_SOURCE
#include <malloc.h>
#include <memtrace.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 40 };

__attribute__((noinline)) static unsigned char *make_block(const char *with) {
    void *block = NULL;
    if (strcmp(with, "malloc") == 0)
        block = malloc(SIZE);
    else if (strcmp(with, "calloc") == 0)
        block = calloc(5, 8);
    else if (strcmp(with, "realloc") == 0)
        block = realloc(malloc(8), SIZE);
    else if (strcmp(with, "shrink") == 0)
        block = realloc(malloc(4000), SIZE);
    else if (strcmp(with, "reallocarray") == 0)
        block = reallocarray(NULL, 5, 8);
    else if (strcmp(with, "posix_memalign") == 0 && posix_memalign(&block, 256, SIZE) != 0)
        block = NULL;
    else if (strcmp(with, "aligned_alloc") == 0)
        block = aligned_alloc(8, SIZE);
    else if (strcmp(with, "memalign") == 0)
        block = memalign(64, SIZE);
    else if (strcmp(with, "valloc") == 0)
        block = valloc(SIZE);
    return block;
}

__attribute__((noinline)) static void write_past(volatile unsigned char *block, size_t first,
                                                 size_t last) {
    for (size_t i = first; i <= last; i++)
        block[i] = (unsigned char)i;
}

static void *use_memory(void *unused) {
    void *blocks[64] = {0};
    for (unsigned i = 0; i < 200000; i++) {
        unsigned slot = i * 7 % 64;
        free(blocks[slot]);
        blocks[slot] = malloc(i % 300);
        if (blocks[slot])
            memset(blocks[slot], 1, malloc_usable_size(blocks[slot]));
    }
    return unused;
}

// exit while others allocate and free.
static void leave_others_running(void) {
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, use_memory, NULL);
        pthread_detach(thread);
    }
    exit(0);
}

// Blocks that come right after each other, most often to the same place.
static void use_in_turn(void) {
    unsigned char *block = malloc(3);
    write_past(block, 3, 3);
    free(block);
    block = malloc(4);
    write_past(block, 4, 4);
    free(block);
    block = malloc(5);
    write_past(block, 5, 5);
    free(block);
}

static int in_child(unsigned char *block) {
    pid_t child = fork();
    if (child == 0) {
        free(malloc(1));
        write_past(block, SIZE + 2, SIZE + 2);
        free(block);
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}

// usage: redzones WITH WAY [FIRST LAST]
int main(int argc, char **argv) {
    if (argc < 3)
        return 1;
    const char *way = argv[2];
    unsigned char *block = make_block(argv[1]);
    printf("%d %zu\n", block != NULL, malloc_usable_size(block));
    fflush(stdout);
    if (argc > 4)
        write_past(block, strtoul(argv[3], NULL, 0), strtoul(argv[4], NULL, 0));
    if (strstr(way, "mark"))
        MEMTRACE_MARK("looked at");
    if (strstr(way, "free"))
        free(block);
    if (strstr(way, "grow"))
        block = realloc(block, 10000);
    if (strstr(way, "fail") && realloc(block, SIZE_MAX / 2 - 100) == NULL)
        free(block);
    if (strstr(way, "child") && in_child(block) != 0)
        return 1;
    if (strstr(way, "turn"))
        use_in_turn();
    if (strstr(way, "_exit"))
        _exit(0);
    if (strstr(way, "abort"))
        abort();
    if (strstr(way, "threads"))
        leave_others_running();
    return 0;
}
