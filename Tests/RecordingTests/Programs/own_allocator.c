// Brings its own malloc along, as programs with jemalloc do. It names its memory while it sets
// itself up, under a lock, as Chromium's does.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static char arena[1 << 20];
static size_t used;
static bool sets_up;

static void set_up(void) {
    sets_up = true;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    sets_up = false;
}

void *malloc(size_t size) {
    if (sets_up)
        _exit(9); // a lock would be waited for forever
    if (used == 0)
        set_up();
    void *block = arena + used;
    used += (size + 31) & ~(size_t)15;
    return used <= sizeof arena ? block : NULL;
}

void *calloc(size_t count, size_t size) {
    return memset(malloc(count * size), 0, count * size);
}

void *realloc(void *block, size_t size) {
    void *moved = malloc(size);
    if (block != NULL && moved != NULL)
        memcpy(moved, block, size);
    return moved;
}

void free(void *block) {
    (void)block;
}

int main(void) {
    free(malloc(33001));
    puts("done");
    return 4;
}
