/* Leaks, cycles and failures by letter, for the gate. -DEDIT stands for an unrelated edit. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct node {
    struct node *next;
    long value;
};

#ifdef EDIT
/* Something new above the function that leaks. */
__attribute__((noinline)) static long unrelated(long number) {
    return number * 3 + 1;
}
#endif

static struct node *volatile held;

__attribute__((noinline)) static void leak_nodes(int count) {
    struct node *head = NULL;
    for (int index = 0; index < count; index++) {
        struct node *node = malloc(sizeof *node);
        node->next = head;
        node->value = index;
        head = node;
    }
    held = head;
    held = NULL;
}

__attribute__((noinline)) static void leak_cycle(void) {
    struct node *first = malloc(sizeof *first), *second = malloc(sizeof *second);
    first->next = second;
    second->next = first;
}

/* Overwrites what earlier calls have left on the stack. */
__attribute__((noinline)) static void scrub(void) {
    volatile char bytes[4096];
    for (unsigned index = 0; index < sizeof bytes; index++)
        bytes[index] = 0;
}

int main(int count, char **arguments) {
#ifdef EDIT
    if (unrelated(count) == 0)
        return 1;
#endif
    int status = 0;
    for (const char *letter = count > 1 ? arguments[1] : ""; *letter; letter++) {
        switch (*letter) {
        case 'l':
            leak_nodes(3);
            break;
        case 'L':
            leak_nodes(5);
            break;
        case 'c':
            leak_cycle();
            break;
        case 'f':
            status = 3;
            break;
        case 'k':
            raise(SIGKILL);
            break;
        case 'm': /* much: more events than a small file holds */
            for (int round = 0; round < 400000; round++)
                free(malloc(100 + round % 5000));
            break;
        case 's':
            if (fork() == 0) {
                leak_nodes(2);
                scrub();
                exit(0);
            }
            wait(NULL);
            break;
        case 'S':
            if (fork() == 0)
                raise(SIGKILL);
            wait(NULL);
            break;
        }
        scrub();
    }
    return status;
}
