/* Calls what an allocator in a library has beside malloc, each with blocks of a size of their own,
 * or only some of it before and after a command has run (argv[1], argv[2]). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void *mallocx(size_t size, int flags);
void *rallocx(void *block, size_t size, int flags);
size_t xallocx(void *block, size_t size, size_t extra, int flags);
size_t sallocx(void *block, int flags);
void sdallocx(void *block, size_t size, int flags);

static void **kept;

/* 1001: calls. */
static void directly(void) {
    for (int i = 0; i < 10; i++)
        sdallocx(mallocx(1001, 0), 1001, 0);
}

/* 1006, 2006, 2007: one block of several sizes, which the C library's free ends. */
static void resize(void) {
    void *block = rallocx(mallocx(1006, 0), 2006, 0);
    xallocx(block, 2007, 0, 0);
    free(block);
}

/* 1031, 2031, 1032: blocks of malloc, which these functions resize and end. */
static void mix(void) {
    char *block = rallocx(memset(malloc(1031), 'a', 1031), 2031, 0);
    putchar(block[1030]);
    sdallocx(block, 2031, 0);
    sdallocx(malloc(1032), 1032, 0);
}

/* 1041, 2041: a block of malloc, whose size is asked for. */
static void measure(void) {
    void *block = malloc(1041);
    printf("%zu %zu\n", sallocx(block, 0), xallocx(block, 1041, 0, 0));
    block = rallocx(block, 2041, 6 | 0x40);
    printf("%zu\n", sallocx(block, 0));
    free(block);
}

/* 1021 is held by a variable, and alone holds 1022. */
static void keep(void) {
    kept = memset(mallocx(1021, 0), 0, 1021);
    *kept = malloc(1022);
}

/* 1005: a leak. */
__attribute__((noinline)) static void leak(void) {
    *(volatile char *)mallocx(1005, 0) = 1;
}

/* 1013: in a forked child. */
static void fork_child(void) {
    pid_t child = fork();
    if (child == 0) {
        *kept = mallocx(1013, 0);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* 100061: more than a limit that the blocks before are no reason to raise. */
static void pass_limit(void) {
    for (int i = 0; i < 100; i++)
        sdallocx(mallocx(1061, 0), 1061, 0);
    free(malloc(100061));
}

/* 1071 before the command, 1072 and 2072 after it. */
static int run_between(const char *command) {
    void *earlier = mallocx(1071, 0);
    if (system(command) != 0)
        return 1;
    for (int i = 0; i < 10; i++)
        sdallocx(rallocx(mallocx(1072, 0), 2072, 0), 2072, 0);
    sdallocx(earlier, 1071, 0);
    return 0;
}

int main(int count, char **arguments) {
    if (count > 2)
        return run_between(arguments[2]);
    if (count > 1) {
        pass_limit();
        return 0;
    }
    directly();
    resize();
    mix();
    measure();
    keep();
    leak();
    fork_child();
    return 0;
}
