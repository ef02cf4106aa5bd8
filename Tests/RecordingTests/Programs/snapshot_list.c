// Keeps a list of 1000 blocks of 31002 bytes, held by a block of 31001, held by a global variable;
// a block of 31003 bytes held by thread-local storage; one of 31004 that an exit handler frees.
// Ends with status 5.
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    char content[1];
};

static struct node **holder;
static __thread void *local;
static void *until_exit;

static void free_it(void) {
    free(until_exit);
    until_exit = NULL;
}

int main(void) {
    holder = malloc(31001);
    *holder = NULL;
    for (int i = 0; i < 1000; i++) {
        struct node *node = malloc(31002);
        node->next = *holder;
        *holder = node;
    }
    local = malloc(31003);
    until_exit = malloc(31004);
    atexit(free_it);
    puts("done");
    return 5;
}
