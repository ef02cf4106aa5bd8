// Goes on using a node that it has freed, in the way that it is told.
#include <memtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct node {
    struct node *next;
    volatile long value;
};

__attribute__((noinline)) static struct node *make_node(void) {
    struct node *node = malloc(sizeof *node);
    node->next = NULL;
    node->value = 1;
    return node;
}

__attribute__((noinline)) static void drop_node(struct node *node) {
    free(node);
}

__attribute__((noinline)) static void set_value(struct node *node) {
    node->value = 42;
}

__attribute__((noinline)) static long follow(struct node *node) {
    return node->next->value;
}

// Without optimisation, the pointer is gone by the time that the sum is followed.
__attribute__((noinline)) static long follow_item(struct node *node, int index) {
    return node->next[index].value;
}

// More than is kept back of 1 MiB.
static void use_memory(void) {
    for (int i = 0; i < 20000; i++)
        free(malloc(100));
}

static int in_child(struct node *node) {
    pid_t child = fork();
    if (child == 0) {
        set_value(node);
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    struct node *node = make_node();
    drop_node(node);
    if (strstr(way, "write"))
        set_value(node);
    if (strstr(way, "mark"))
        MEMTRACE_MARK("looked at");
    if (strstr(way, "later"))
        use_memory();
    if (strstr(way, "twice"))
        drop_node(node);
    if (strstr(way, "again")) {
        node = realloc(node, 100);
        free(node);
    }
    if (strstr(way, "child") && in_child(node) != 0)
        return 1;
    puts("still here");
    fflush(stdout);
    if (strstr(way, "_exit"))
        _exit(0);
    if (strstr(way, "abort"))
        abort();
    if (strstr(way, "item"))
        return (int)follow_item(node, argc + 1);
    return strstr(way, "follow") ? (int)follow(node) : 0;
}
