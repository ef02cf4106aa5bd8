/* Leaks, cycles and failures by letter, for the gate. -DEDIT stands for an unrelated edit. */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
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

__attribute__((noinline)) static void leak_cycle(int count) {
    (void)count;
    struct node *first = malloc(sizeof *first), *second = malloc(sizeof *second);
    first->next = second;
    second->next = first;
}

/* Calls with room above the callee's frame, so that scrub reaches all of it. */
__attribute__((noinline)) static void below(void (*body)(int), int count) {
    volatile char room[512];
    room[0] = 0;
    body(count);
    room[1] = 0;
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
            below(leak_nodes, 3);
            break;
        case 'L':
            below(leak_nodes, 5);
            break;
        case 'c':
            below(leak_cycle, 0);
            break;
        case 'f':
            status = 3;
            break;
        case 'k':
            raise(SIGKILL);
            break;
        case 'a':
            abort();
        case 'm': /* much: more events than a small file holds */
            for (int round = 0; round < 400000; round++)
                free(malloc(100 + round % 5000));
            break;
        case 's':
            if (fork() == 0) {
                below(leak_nodes, 2);
                scrub();
                exit(0);
            }
            wait(NULL);
            break;
        case 'S':
            if (fork() == 0) {
                below(leak_nodes, 1);
                raise(SIGKILL);
            }
            wait(NULL);
            break;
        case 'T': /* a server that a test is done with */
            if (fork() == 0) {
                below(leak_nodes, 2);
                scrub();
                /* Nor is anything left in the registers of a call's arguments. */
                syscall(SYS_kill, getpid(), SIGTERM, 0L, 0L, 0L, 0L);
            }
            wait(NULL);
            break;
        case 'x': /* as an exit test of Swift Testing, which does what the other letters say */
            if (fork() == 0) {
                setenv("SWT_EXIT_TEST_ID", "[1,2,3,4]", 1);
                execl(arguments[0], arguments[0], letter + 1, (char *)NULL);
            }
            wait(NULL);
            return status;
        case 'd': /* as a death test of GoogleTest, likewise */
            if (fork() == 0)
                execl(arguments[0], arguments[0], letter + 1,
                      "--gtest_internal_run_death_test=/gate.cc|9|0|3", (char *)NULL);
            wait(NULL);
            return status;
        }
        scrub();
    }
    return status;
}
