// One frame as the caller of new stacks and, through a tail call, as the leaf of a stack of its
// own, with thousands of other stacks in between: blocks of 28001 bytes are the leaf's.
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 10, LEVELS = 6 };

typedef void *function(size_t size);

__attribute__((noinline)) static void *jump(size_t size) {
    return malloc(size);
}

#define CALL(name)                                                                                 \
    __attribute__((noinline)) static void *name(size_t size) {                                     \
        void *volatile block = malloc(size);                                                       \
        return block;                                                                              \
    }
CALL(call0)
CALL(call1)
CALL(call2)
CALL(call3)
CALL(call4)
CALL(call5)
CALL(call6)
CALL(call7)
CALL(call8)
CALL(call9)
static function *const calls[ROUNDS] = {call0, call1, call2, call3, call4,
                                        call5, call6, call7, call8, call9};

__attribute__((noinline)) static void *outer(function *inner, size_t size) {
    void *volatile block = inner(size);
    return block;
}

typedef void other(unsigned path, int level);
static other o0, o1, o2, o3, o4, o5, o6, o7;
static other *const others[] = {o0, o1, o2, o3, o4, o5, o6, o7};

#define OTHER(name)                                                                                \
    __attribute__((noinline)) static void name(unsigned path, int level) {                         \
        void *volatile block = NULL;                                                               \
        if (level < LEVELS)                                                                        \
            others[path >> 3 * level & 7](path, level + 1);                                        \
        else                                                                                       \
            block = malloc(64);                                                                    \
        free(block);                                                                               \
    }
OTHER(o0)
OTHER(o1)
OTHER(o2)
OTHER(o3)
OTHER(o4)
OTHER(o5)
OTHER(o6)
OTHER(o7)

int main(int argc, char **argv) {
    unsigned random = 1;
    long other_stacks = argc > 1 ? atol(argv[1]) : 8000;
    for (int round = 0; round < ROUNDS; round++) {
        /* The caller is the same frame both times. */
        for (int i = 0; i < 2; i++)
            free(outer(i == 0 ? calls[round] : jump, 28000 + (unsigned)i));
        for (long i = 0; i < other_stacks; i++) {
            random = random * 1103515245 + 12345;
            others[random >> 28 & 7](random >> 8, 0);
        }
    }
    puts("done");
    return 0;
}
