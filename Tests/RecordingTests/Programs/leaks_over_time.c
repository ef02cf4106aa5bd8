// Loses blocks between the snapshots that it takes.
#include <errno.h>
#include <memtrace.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept[4];

static void take(const char *name) {
    while (MEMTRACE_SNAPSHOT(name) == EBUSY)
        usleep(1000);
}

// What is left behind on the stack must not hide a leak.
static void clear_stack(void) {
    volatile char room[4096];
    memset((void *)room, 0, sizeof room);
}

static void lose(int blocks, size_t size) {
    for (int i = 0; i < blocks; i++)
        kept[0] = malloc(size);
    kept[0] = NULL;
    clear_stack();
}

static void keep(void) {
    kept[1] = malloc(34003);
    clear_stack();
}

int main(void) {
    keep();
    take("none");
    lose(1, 34001);
    take("one");
    take("still one");
    lose(2, 34002);
    kept[1] = NULL; // was no leak before
    take("four");
    return 0;
}
