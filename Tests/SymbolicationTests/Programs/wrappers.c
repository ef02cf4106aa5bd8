// Functions that allocate for their callers, by how they are declared, and others.
#include <stdlib.h>
#include <string.h>

struct pool {
    int used;
};
struct node {
    struct node *next;
};
typedef unsigned long size;
typedef void *block;

void *pool_alloc(struct pool *pool, size bytes) {
    pool->used++;
    return malloc(bytes);
}
block counted_calloc(short count) {
    return calloc((size_t)count, 4);
}
unsigned char *byte_alloc(int bytes) {
    return malloc((size_t)bytes);
}
const void *const_alloc(size bytes) {
    return malloc(bytes);
}
char *copy_strdup(const char *text) {
    return strcpy(malloc(strlen(text) + 1), text);
}

struct node *alloc_node(int kind) {
    return calloc(1, sizeof(struct node) + (size_t)kind);
}
void *alloc_defaults(void) {
    return malloc(32);
}
void leak_malloc(int bytes) {
    (void)!malloc((size_t)bytes);
}
int *alloc_numbers(size count) {
    return malloc(count * sizeof(int));
}
void *alloc_named(char kind, _Bool wide, const char *name) {
    return malloc(kind + wide + *name);
}
void *list_malloc() {
    return malloc(16);
}
void *worker(int number) {
    return malloc((size_t)number);
}
char *find_text(const char *text) {
    return strdup(text);
}

char *allocation_text(int number) {
    return calloc(3, (size_t)number);
}

void *my_malloc(size bytes) {
    return malloc(bytes + 8);
}

void pool_free(struct pool *pool, void *freed) {
    pool->used--;
    free(freed);
}
void my_free(block freed) {
    free(freed);
}
void node_free(struct node *node) {
    free(node);
}
void any_free(void *object) {
    struct node *node = object;
    free(node->next);
    free(node);
}
void double_free(void *freed) {
    free(freed);
    free(freed);
}
int counted_free(void *freed) {
    free(freed);
    return 1;
}

static inline void *zero_alloc(size bytes) {
    void *zeroed = malloc(bytes);
    __asm__ volatile(".global probe\nprobe: nop" : "+r"(zeroed)::"memory");
    return zeroed;
}
void *caller(int kind) {
    return zero_alloc((size)kind);
}

int main(void) {
    return 0;
}
