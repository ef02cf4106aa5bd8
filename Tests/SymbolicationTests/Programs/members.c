/* Structures whose members are named by where they lie. */
#include <stdlib.h>

struct link {
    struct link *next, *previous;
};

struct node {
    int number;
    struct link links;
    union {
        char *text;
        double value;
    };
    struct {
        short kind;
        struct node *inner;
    } nested;
    char small[16];
    struct link *slots[3];
    long count;
    unsigned flag : 1;
    struct link tail[];
};

typedef struct {
    void *first;
} Unnamed;

typedef union value {
    struct node *node;
    char bytes[24];
} value;

struct node *make(void);
Unnamed *unnamed(void);
value *variant(void);

struct node *make(void) {
    return calloc(1, sizeof(struct node));
}
Unnamed *unnamed(void) {
    return calloc(1, sizeof(Unnamed));
}
value *variant(void) {
    return calloc(1, sizeof(value));
}

int main(void) {
    return make() == 0 || unnamed() == 0 || variant() == 0;
}
