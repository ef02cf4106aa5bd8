/* What two programs have in common, so that dwz moves its debug information to a file that both use. */
#include <stdlib.h>

struct request_node {
    struct request_node *next;
    char name[40];
    int kind;
};

static struct request_node *volatile kept;

static __attribute__((noinline)) void keep_node(int kind) {
    struct request_node *node = malloc(sizeof *node);
    node->next = NULL;
    node->kind = kind;
    kept = node;
}
