// Memory that is mapped as readable and is not all to be read: guards within mappings, of which
// newer C libraries make the ends of the stacks of threads. A terabyte that is hardly used. One
// block is leaked. "thread": another thread is there at the end.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, ADVICE_GUARD = 102 /* MADV_GUARD_INSTALL */ };
static const size_t terabyte = (size_t)1 << 40;

static char *map(size_t size) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

// Without guards in older systems, with the same output.
static void hold_behind_a_guard(void) {
    char *memory = map(PAGES * PAGE);
    memset(memory, 0, PAGES * PAGE);
    *(void **)(memory + PAGE) = malloc(41001);
    *(void **)(memory + 40 * PAGE) = malloc(41001);
    madvise(memory + 8 * PAGE, 8 * PAGE, ADVICE_GUARD);
}

static void hold_in_a_terabyte(void) {
    char *memory = map(terabyte);
    *(void **)memory = malloc(41001);
    *(void **)(memory + terabyte / 2 + 8) = malloc(41001);
    *(void **)(memory + terabyte - 8) = malloc(41001);
}

static __attribute__((noinline)) void leak(void) {
    *(volatile uintptr_t *)malloc(41002) = 1;
}

static void *stay(void *argument) {
    for (;;)
        pause();
    return argument;
}

int main(int count, char **arguments) {
    pthread_t thread;
    if (count > 1 && strcmp(arguments[1], "thread") == 0)
        pthread_create(&thread, NULL, stay, NULL);
    hold_behind_a_guard();
    hold_in_a_terabyte();
    leak();
    puts("done");
    return 0;
}
