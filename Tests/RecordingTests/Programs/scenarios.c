// Everyday memory problems, one per run: the first argument says which.
#include "memtrace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct node {
    struct node *next;
    int number;
};

static void *property;

// Each call loses the block of the call before.
static void demoMemoryLeak(void) {
    property = malloc(16);
    memset(property, 1, 16);
}

// One is taken after the other.
static void take_snapshot(const char *name) {
    while (MEMTRACE_SNAPSHOT(name) == EBUSY)
        sched_yield();
}

// The button is pressed twice, then something else is shown.
static void press_twice(void) {
    take_snapshot("started");
    for (int i = 0; i < 2; i++) {
        demoMemoryLeak();
        take_snapshot("pressed");
    }
    property = NULL;
}

static struct node *list;

static void make_list(void) {
    for (int i = 0; i < 1024; i++) {
        struct node *node = malloc(sizeof(struct node));
        *node = (struct node){list, i};
        list = node;
    }
}

static char *contents;

static void read_whole_file(const char *path) {
    int file = open(path, O_RDONLY);
    off_t size = lseek(file, 0, SEEK_END);
    contents = malloc((size_t)size);
    if (file < 0 || contents == NULL || pread(file, contents, (size_t)size, 0) != size)
        _exit(2);
    close(file);
}

static void lose(void) {
    char *volatile block = malloc(700);
    memset(block, 1, 700);
    block = NULL;
}

// Killed while it works, long after the snapshot.
static void die(void) {
    lose();
    take_snapshot("done");
    waitpid(-1, NULL, __WALL); /* for the copy that writes it */
    for (unsigned i = 1; i < 200000; i++)
        free(malloc(i * 7919 % 5000));
    raise(SIGKILL);
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 64;
    if (strcmp(argv[1], "press-twice") == 0)
        press_twice();
    if (strcmp(argv[1], "make-list") == 0)
        make_list();
    if (strcmp(argv[1], "read-file") == 0)
        read_whole_file(argv[0]);
    if (strcmp(argv[1], "snapshot-then-die") == 0)
        die();
    return 0;
}
