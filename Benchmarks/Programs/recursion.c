/* A recursion that frees: ROUNDS times a list of NODES nodes, each with a name, whose destructors
 * call each other, as those of smart pointers do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    char *name;
};

static __attribute__((noinline)) struct node *make(struct node *next, int number) {
    char name[32];
    snprintf(name, sizeof name, "node %d", number);
    struct node *node = malloc(sizeof *node);
    if (!node)
        exit(1);
    *node = (struct node){next, strdup(name)};
    return node;
}

static __attribute__((noinline)) void destroy(struct node *node) {
    if (node->next)
        destroy(node->next);
    free(node->name);
    free(node);
}

int main(int argc, char **argv) {
    if (argc != 3)
        return fprintf(stderr, "usage: recursion ROUNDS NODES\n"), 64;
    int rounds = atoi(argv[1]), nodes = atoi(argv[2]);
    for (int round = 0; round < rounds; round++) {
        struct node *list = make(NULL, 0);
        for (int i = 1; i < nodes; i++)
            list = make(list, i);
        destroy(list);
    }
    return 0;
}
