// Allocators of the program's own, which announce their blocks: known leaks, and blocks that are
// none.
//
// Each case is a function; its name is on the stack of all blocks that belong to it.
#include <memtrace.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCK = 64, POOL = 4096 };

struct node {
    struct node *next;
    char bytes[24];
};

struct pool {
    char *memory;
    size_t used;
    void *free;
};

static char own_memory[POOL];
static struct pool on_heap, in_mapping = {NULL, BLOCK}, in_variable = {own_memory, BLOCK};
static struct node *kept_list, *kept_grown;
static void *kept_block;

// Overwrites what earlier calls left on the stack.
static void clear_stack(void) {
    char dead[32768];
    memset(dead, 0, sizeof dead);
    __asm__ volatile("" ::"r"(dead) : "memory");
}

static void *take_of(struct pool *pool, size_t size) {
    void *block = pool->free;
    if (block)
        pool->free = *(void **)block;
    else {
        block = pool->memory + pool->used;
        pool->used += BLOCK;
    }
    memset(block, 0, BLOCK);
    MEMTRACE_ALLOCATED(block, size);
    return block;
}

static struct node *take(struct pool *pool) {
    return take_of(pool, sizeof(struct node));
}

static void give(struct pool *pool, void *block) {
    MEMTRACE_FREED(block);
    *(void **)block = pool->free;
    pool->free = block;
}

// Begins where the pool does: the pointer to that holds it.
static void keep_first(void) {
    take(&on_heap);
}

static void keep_list(void) {
    for (int i = 0; i < 5; i++) {
        struct node *node = take(&on_heap);
        node->next = kept_list;
        kept_list = node;
    }
}

static void leak_chain(void) {
    struct node *node = take(&on_heap);
    node->next = take(&on_heap);
}

static void leak_cycle(void) {
    struct node *one = take(&on_heap), *other = take(&on_heap);
    one->next = other;
    other->next = one;
}

// What was taken back is no block, although the list of free ones leads there.
static void keep_free_list(void) {
    struct node *nodes[3];
    for (int i = 0; i < 3; i++)
        nodes[i] = take(&on_heap);
    for (int i = 0; i < 3; i++)
        give(&on_heap, nodes[i]);
}

static void leak_what_it_holds(void) {
    struct node *node = take(&in_mapping);
    node->next = malloc(48);
}

static void leak_in_mapping(void) {
    take(&in_mapping);
}

static void leak_in_variable(void) {
    take(&in_variable);
}

// The pool with all that lies in it.
static void leak_pool(void) {
    struct pool lost = {malloc(POOL)};
    memset(lost.memory, 0, POOL);
    for (int i = 0; i < 3; i++)
        take(&lost);
}

static void keep_ignored(void) {
    struct node *node = take(&on_heap);
    node->next = malloc(40);
    MEMTRACE_IGNORE(node);
    MEMTRACE_IGNORE((char *)malloc(56) + 8);
}

// Grows in its place.
static void keep_grown(void) {
    kept_grown = take_of(&on_heap, 16);
    MEMTRACE_FREED(kept_grown);
    MEMTRACE_ALLOCATED(kept_grown, 48);
    kept_block = malloc(24);
    kept_grown->next = kept_block;
    kept_block = NULL;
}

// Whoever has the block has what it lies in, which nothing else leads to.
static void keep_wrapped(void) {
    char *memory = malloc(80);
    memset(memory, 0, 80);
    MEMTRACE_ALLOCATED(memory + 16, 64);
    kept_block = memory + 16;
}

int main(void) {
    on_heap.memory = malloc(POOL);
    in_mapping.memory =
        mmap(NULL, POOL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    keep_first();
    keep_list();
    leak_chain();
    leak_cycle();
    keep_free_list();
    leak_what_it_holds();
    leak_in_mapping();
    leak_in_variable();
    leak_pool();
    keep_ignored();
    keep_grown();
    keep_wrapped();
    clear_stack();
    return 0;
}
