/* Pointers into freed blocks, and what looks like one and is none.
 *
 *   dangling         the former
 *   dangling none    the latter
 *
 * Blocks of each case have a size of their own, so that no address is used again by another one. */
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    long value[4];
};

struct page {
    char text[120];
};

struct holder {
    long number;
    struct node *node;
};

/* ---- Pointers into freed blocks ---- */

struct page *latest;
static struct holder *holders[3];
static char *first_part;
static char *inside;
static void **table;

static struct node *make_node(void) {
    return calloc(1, sizeof(struct node));
}

/* Somebody keeps a second pointer to what the owner frees. */
static struct page *use_page(void) {
    struct page *page = malloc(sizeof *page);
    latest = page;
    free(page);
    return latest;
}

static void drop_nodes(void) {
    for (int i = 0; i < 3; i++) {
        holders[i] = malloc(sizeof *holders[i]);
        holders[i]->number = i;
        holders[i]->node = make_node();
    }
    for (int i = 0; i < 3; i += 2)
        free(holders[i]->node);
}

/* What follows the block keeps it from growing in its place. */
static void grow_text(void) {
    char *text = malloc(200), *follows = malloc(200);
    static char *kept[2];
    first_part = text;
    kept[0] = realloc(text, 100000);
    kept[1] = follows;
}

static void drop_line(void) {
    char *line = malloc(300);
    inside = line + 100;
    free(line);
}

static void drop_entries(void) {
    table = calloc(100, sizeof *table);
    for (int i = 0; i < 100; i++)
        table[i] = malloc(400);
    for (int i = 10; i < 100; i += 30)
        free(table[i]);
}

/* ---- None ---- */

static struct holder *cleared;
static char *ends[4];
static struct holder *unwritten[8];

static void clear_pointer(void) {
    cleared = calloc(1, sizeof *cleared);
    cleared->node = make_node();
    free(cleared->node);
    cleared->node = NULL;
}

/* One past the end of a block, behind which another one was freed, and one past the end of that. */
static void keep_ends(void) {
    ends[0] = malloc(504);
    char *second = malloc(504);
    ends[2] = malloc(504);
    ends[1] = ends[0] + 504;
    ends[3] = second + 504;
    free(second);
}

/* Nobody writes the pointers of these, and there were others in their memory. */
static void leave_unwritten(void) {
    struct node *nodes[8];
    for (int i = 0; i < 8; i++) {
        unwritten[i] = malloc(sizeof *unwritten[i]);
        nodes[i] = malloc(1000);
        unwritten[i]->node = nodes[i];
    }
    for (int i = 0; i < 8; i++)
        free(unwritten[i]);
    for (int i = 0; i < 8; i++) {
        unwritten[i] = malloc(sizeof *unwritten[i]);
        unwritten[i]->number = i;
    }
    for (int i = 0; i < 8; i++)
        free(nodes[i]);
}

/* The address is handed out again at once. */
static void use_again(void) {
    static char *old, *young;
    old = malloc(700);
    free(old);
    young = malloc(700);
}

static void free_holder_too(void) {
    struct holder *holder = malloc(2000);
    holder->node = malloc(2100);
    free(holder->node);
    free(holder);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "none") == 0) {
        clear_pointer();
        keep_ends();
        leave_unwritten();
        use_again();
        free_holder_too();
        return 0;
    }
    use_page();
    drop_nodes();
    grow_text();
    drop_line();
    drop_entries();
    return 0;
}
