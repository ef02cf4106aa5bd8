// A child of a process with much memory leaks one block and holds another one.
//   own      the holder is a block that it inherited
//   resized  the other one is inherited as well, and a realloc left it where it was: nobody had to
//            store its address again
//   shared   a child of its own, unknown to the C library, has all pages when it ends
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 2000, BLOCK = 20000, HELD = 21001, LEAKED = 21002, SHRUNK = 21500 };

static void **holders[BLOCKS];

__attribute__((noinline)) static void leak(void) {
    void *volatile block = malloc(LEAKED);
    memset(block, 1, LEAKED);
    block = NULL;
}

// Ends once the caller's process has ended.
static void share_pages(void) {
    int ends[2];
    if (pipe(ends) || syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) != 0)
        return;
    close(ends[1]);
    char byte;
    syscall(SYS_exit_group, (int)read(ends[0], &byte, 1));
}

static void run(const char *way) {
    leak();
    if (strcmp(way, "resized") == 0) {
        void *volatile kept = realloc(*holders[BLOCKS / 2], HELD);
        if (kept != *holders[BLOCKS / 2])
            _exit(2);
        return;
    }
    *holders[BLOCKS / 2] = malloc(HELD);
    if (strcmp(way, "shared") == 0)
        share_pages();
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 1;
    for (int i = 0; i < BLOCKS; i++) {
        holders[i] = malloc(BLOCK);
        memset(holders[i], 0, BLOCK);
    }
    *holders[BLOCKS / 2] = malloc(SHRUNK);
    pid_t child = fork();
    if (child == 0) {
        run(argv[1]);
        exit(3);
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
