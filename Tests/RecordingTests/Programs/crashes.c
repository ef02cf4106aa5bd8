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
    free(object);
    return 0;
}
