// Allocates blocks in the way that it is told, and says which there were.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1000 };

static void *block_of(const char *with, size_t size, void *old) {
    void *block = NULL;
    if (strcmp(with, "malloc") == 0)
        block = malloc(size);
    else if (strcmp(with, "calloc") == 0)
        block = calloc(1, size);
    else if (strcmp(with, "realloc") == 0)
        block = realloc(old, size);
    else if (strcmp(with, "posix_memalign") == 0)
        errno = posix_memalign(&block, 64, size);
    else if (strcmp(with, "aligned_alloc") == 0)
        block = aligned_alloc(64, (size + 63) & ~(size_t)63);
    else if (strcmp(with, "memalign") == 0)
        block = memalign(64, size);
    else if (strcmp(with, "valloc") == 0)
        block = valloc(size);
    return block;
}

static void allocate(const char *with, int count, size_t size) {
    static char results[MOST + 1];
    static void *blocks[MOST];
    for (int i = 0; i < count; i++) {
        errno = 0;
        blocks[i] = block_of(with, size, NULL);
        results[i] = blocks[i] ? '+' : errno == ENOMEM ? '-' : '?';
    }
    // What was given back can be had again.
    for (int i = 0; i < count; i++)
        free(blocks[i]);
    write(1, results, (size_t)count);
    write(1, "\n", 1);
}

// usage: shortage WITH COUNT SIZE [fork | grow]
int main(int argc, char **argv) {
    if (argc < 4)
        return 1;
    const char *way = argc > 4 ? argv[4] : "";
    int count = atoi(argv[2]);
    size_t size = strtoul(argv[3], NULL, 0);
    if (strcmp(way, "grow") == 0) {
        char *block = NULL;
        for (int i = 1; i <= count; i++) {
            char *grown = realloc(block, size * (size_t)i);
            if (!grown) {
                printf("grew to %zu, %s\n", size * (size_t)(i - 1),
                       block[0] == 'x' ? "intact" : "changed");
                break;
            }
            block = grown;
            block[0] = 'x';
        }
        free(block);
        return 0;
    }
    allocate(argv[1], count, size);
    if (strcmp(way, "fork") == 0 && fork() == 0) {
        allocate(argv[1], count, size);
        _exit(0);
    }
    while (wait(NULL) > 0)
        ;
    if (strcmp(way, "again") == 0)
        allocate(argv[1], count, size);
    return 0;
}
