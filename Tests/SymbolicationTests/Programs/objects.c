/* Objects that C code allocates by the variables that point to them. */
#include <stdlib.h>

struct label {
    char text[20];
};

struct part {
    struct part *next;
    union {
        struct label *label;
        long number;
    };
};

typedef struct {
    struct part *first, **all;
    const struct part *newest;
} List;

typedef List *ListPointer;
typedef enum color { RED } color;

struct part *global;
List *list;
ListPointer *lists;

static inline __attribute__((always_inline)) void *inlined(struct part *unit, int count) {
    void *result = malloc(count * sizeof *unit);
    return result;
}

__attribute__((noinline)) void *allocate(int count, char **names) {
    color *colors;
    void *untyped;
    if (count > 1) {
        List *global = malloc(sizeof *global);
        list = global;
    }
    for (int i = 0; i < count; i++) {
        double *count = malloc(sizeof *count);
        names[i] = (char *)count;
    }
    colors = malloc(sizeof *colors);
    untyped = colors;
    names[0] = untyped;
    names[1] = inlined(0, count);
    return names[0];
}

int main(void) {
    char *names[4];
    lists = malloc(sizeof *lists);
    global = allocate(2, names);
    return list == 0;
}
