// Allocates before any library is initialised, in a constructor, and after main.
#include <stdio.h>
#include <stdlib.h>

static void *early, *constructed;

static void first(int argc, char **argv, char **environment) {
    (void)argc, (void)argv, (void)environment;
    early = malloc(11001);
}
__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **,
                                                                        char **) = first;

__attribute__((constructor)) static void construct(void) {
    constructed = malloc(11002);
}

__attribute__((destructor)) static void destruct(void) {
    free(constructed);
    free(early);
    free(malloc(11004));
}

static void at_exit(void) {
    free(malloc(11003));
}

int main(void) {
    atexit(at_exit);
    puts(early != NULL && constructed != NULL ? "done" : "lost");
    return 0;
}
