// Leaves the address of a block all over the stack below main, then ends: by return, or by exit
// while main holds another one (argument "exit").
#include <stdlib.h>

static __attribute__((noinline)) void smear(void *block) {
    void *volatile words[512];
    for (int i = 0; i < 512; i++)
        words[i] = block;
}

static __attribute__((noinline)) void leak(void) {
    void *block = malloc(771);
    smear(block);
}

int main(int argc, char **argv) {
    void *volatile held = malloc(772);
    leak();
    if (argc > 1)
        exit(0);
    return 0;
}
