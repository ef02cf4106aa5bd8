/* Calls the allocator that is linked into it in all ways that a compiler knows, each with blocks of
 * a size of their own. */
#include "bundled_allocator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void *kept[4];

/* 1001: calls. */
static void directly(void) {
    for (int i = 0; i < 20; i++)
        OWN(free)(OWN(malloc)(1001));
}

/* 1002: jumps, where the call is the last thing that a function does. */
__attribute__((noinline, optimize("O2"))) static void *make(size_t size) {
    return OWN(malloc)(size);
}

__attribute__((noinline, optimize("O2"))) static void end(void *block) {
    OWN(free)(block);
}

/* 1003: pointers that the loader relocates. */
static void *(*const volatile makers[])(size_t) = {OWN(malloc)};
static void (*const volatile enders[])(void *) = {OWN(free)};

/* 1004: pointers that the code computes. */
__attribute__((noinline)) static void by_argument(void *(*allocate)(size_t),
                                                  void (*deallocate)(void *)) {
    deallocate(allocate(1004));
}

/* 1005: a leak. */
__attribute__((noinline)) static void leak(void) {
    *(volatile char *)OWN(malloc)(1005) = 1;
}

/* 1006, 2006, 3006: one block of several sizes. */
static void resize(void) {
    void *block = OWN(realloc)(NULL, 1006);
    block = OWN(realloc)(block, 2006);
    block = OWN(rallocx)(block, 3006, 0);
    OWN(xallocx)(block, 3007, 0, 0); /* it can be that */
    OWN(xallocx)(block, 9999, 0, 0); /* it cannot */
    OWN(sdallocx)(block, 3007, 0);
}

/* 1008: aligned ones. */
static void align(void) {
    void *block;
    OWN(posix_memalign)(&block, 64, 1008);
    OWN(free)(block);
    OWN(free)(OWN(aligned_alloc)(256, 1008));
}

/* 1009: with a flag; 1010, 2010: of mimalloc. */
static void others(void) {
    OWN(sdallocx)(OWN(mallocx)(1009, 0), 1009, 0);
#ifdef MIMALLOC
    OWN(free)(OWN(realloc_aligned)(OWN(malloc_aligned)(1010, 64), 2010, 64));
#endif
}

static void *in_thread(void *unused) {
    for (int i = 0; i < 100; i++)
        OWN(free)(OWN(malloc)(1011));
    return unused;
}

static void start_threads(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, in_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* 1012: in the C library, which may call this allocator. 1013: in a forked child. */
static void elsewhere(void) {
    char text[1012];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    free(strdup(text));
    pid_t child = fork();
    if (child == 0) {
        kept[1] = OWN(malloc)(1013);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(void) {
    directly();
    for (int i = 0; i < 10; i++)
        end(make(1002));
    for (int i = 0; i < 10; i++)
        enders[0](makers[0](1003));
    by_argument(OWN(malloc), OWN(free));
    leak();
    resize();
    kept[0] = OWN(calloc)(1007, 1);
    align();
    others();
    start_threads();
    elsewhere();
    puts("done");
    return 0;
}
