// 64 stacks that differ in the return addresses of some of six frames in their middle, and in
// nothing else: all frames are of the same two functions, at the same places. They come in an order
// in which other frames change every time, three times over; frames with alloca are found by rbp.
#include <alloca.h>
#include <stdlib.h>

enum { LEVELS = 6 };

static void choose(int level, unsigned way);

__attribute__((noinline)) static void step(int level, unsigned way) {
    choose(level, way);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void choose(int level, unsigned way) {
    if (level == LEVELS) {
        free(malloc(27000 + way));
        return;
    }
    volatile char *room = alloca(48);
    room[0] = (char)level;
    if (way >> level & 1) {
        step(level + 1, way);
        __asm__ volatile("# or the two calls would become one");
    } else {
        step(level + 1, way);
    }
    room[1] = room[0];
}

int main(void) {
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 1 << LEVELS; i++)
            choose(0, i * 37 % (1 << LEVELS));
    return 0;
}
