// A library that holds blocks by distances, as fontconfig's patterns do.

#include <stdint.h>
#include <stdlib.h>

struct pattern {
    int count;
    int size;
    intptr_t elements;
    int references;
};

static __attribute__((noinline)) void insert(struct pattern *pattern) {
    char *elements = malloc(256);
    pattern->elements = elements - (char *)pattern;
}

struct pattern *FcPatternCreate(void) {
    return calloc(1, sizeof(struct pattern));
}

void FcPatternAdd(struct pattern *pattern) {
    insert(pattern);
}

// What the library forgets is a leak, whatever has no name in it.
static __attribute__((noinline)) void forget(void) {
    char *volatile lost = malloc(100);
    (void)lost;
}

void FcInit(void) {
    forget();
}
