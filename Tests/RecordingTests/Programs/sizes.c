/* Blocks whose types the source tells, each in another way; all are still held at the end. */
#include <stdlib.h>

struct session {
    char name[40];
    struct session *next;
};
struct edge {
    long from, to;
};
typedef struct {
    struct session *sessions;
    struct edge *edges;
} graph;

#define XNEW(type) ((type *)malloc(sizeof(type)))

struct session *declared, *assigned;
graph *all;
struct edge **table;
struct edge *named;

static void *xmalloc(size_t size) {
    void *block = malloc(size);
    if (!block)
        abort();
    return block;
}

static void declare(void) {
    struct session *new = malloc(sizeof *new);
    declared = new;
}

static void assign(struct session **place) {
    if (!(*place = calloc(1, sizeof **place)))
        abort();
}

static void fill(graph *g) {
    g->sessions = malloc(sizeof(*g->sessions));
    g->edges = xmalloc(100 * sizeof g->edges[0]);
}

int main(void) {
    declare();
    assign(&assigned);
    all = malloc( // one
        sizeof(graph));
    fill(all);
    table = malloc(7 * sizeof *table);
    named = XNEW(struct edge);
    return 0;
}
