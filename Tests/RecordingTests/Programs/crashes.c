/* Ends as its argument says. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct object {
    char name[16];
    void (*call)(void);
    struct object *next;
};

#define NOINLINE __attribute__((noinline, noclone))

static volatile int zero;

NOINLINE static void read_member(struct object *object) {
    zero += object->next->name[8];
}

NOINLINE static void write_name(char *name) {
    name[0] = 'x';
}

NOINLINE static void call_it(struct object *object) {
    object->call();
    zero++;
}

NOINLINE static void divide(void) {
    zero = 100 / zero;
}

NOINLINE static void give_up(void) {
    abort();
}

/* Writes to a freed block what glibc takes for the next one of its list, and asks for that. */
NOINLINE static void break_heap(void) {
    size_t *first = malloc(24), *second = malloc(24);
    free(first);
    free(second);
    second[0] = (size_t)second >> 12 ^ 0x4141414141414140;
    second = malloc(24);
    second = malloc(24);
    second[0] = 1;
}

NOINLINE static int plunge(int depth) {
    volatile char room[100];
    room[0] = (char)depth;
    return plunge(depth + 1) + room[0];
}

/* Runs out of it in the allocator, most often, or in a hook. */
NOINLINE static int plunge_with_blocks(int depth) {
    char *volatile block = malloc(24);
    int result = plunge_with_blocks(depth + 1);
    free(block);
    return result;
}

/* The stack pointer is moved far beyond the end of the stack before anything is written. */
NOINLINE static int plunge_by_pages(int depth) {
    volatile char room[40000];
    room[0] = (char)depth;
    return plunge_by_pages(depth + 1) + room[0];
}

static void *plunge_in_thread(void *object) {
    free(malloc(1001));
    zero += plunge(0);
    return object;
}

/* In mappings of their own, with nothing behind them. */
enum { LARGE = 1000000, HOLE = 1 << 20 };

NOINLINE static char *make_large(void) {
    char *before = malloc(LARGE);
    char *hole = mmap(NULL, HOLE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *large = malloc(LARGE);
    munmap(hole, HOLE);
    return large < before ? large : before;
}

NOINLINE static void fill(char *large) {
    for (size_t i = 0; i < 2 * (size_t)LARGE; i++)
        large[i] = 'x';
}

NOINLINE static void drop(char *large) {
    free(large);
}

static void *in_thread(void *object) {
    read_member(object);
    return NULL;
}

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "";
    struct object *object = calloc(1, sizeof *object);
    if (!strcmp(way, "read"))
        read_member(object);
    else if (!strcmp(way, "write"))
        write_name((char *)(void *)object->next);
    else if (!strcmp(way, "constant"))
        write_name((char *)"constant");
    else if (!strcmp(way, "call"))
        call_it(object);
    else if (!strcmp(way, "wild")) {
        memset(object, 0x5a, sizeof *object);
        read_member(object);
    } else if (!strcmp(way, "wild-call")) {
        memset(object, 0x5a, sizeof *object);
        call_it(object);
    } else if (!strcmp(way, "unmapped")) {
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(page, 4096);
        write_name(page);
    } else if (!strcmp(way, "divide"))
        divide();
    else if (!strcmp(way, "trap"))
        __builtin_trap();
    else if (!strcmp(way, "abort"))
        give_up();
    else if (!strcmp(way, "thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, in_thread, object);
        pthread_join(thread, NULL);
    } else if (!strcmp(way, "heap"))
        break_heap();
    else if (!strcmp(way, "recursion"))
        zero += plunge(0);
    else if (!strcmp(way, "recursion-by-pages"))
        zero += plunge_by_pages(0);
    else if (!strcmp(way, "recursion-in-thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, plunge_in_thread, object);
        pthread_join(thread, NULL);
    } else if (!strcmp(way, "recursion-with-blocks"))
        zero += plunge_with_blocks(0);
    else if (!strcmp(way, "beyond"))
        fill(make_large());
    else if (!strcmp(way, "freed")) {
        char *large = make_large();
        drop(large);
        write_name(large + 500000);
    }
    free(object);
    return 0;
}
