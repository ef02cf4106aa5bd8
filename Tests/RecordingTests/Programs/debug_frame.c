/* Allocates below functions whose unwind tables are in .debug_frame only, where there are any:
 * -O2 -fno-asynchronous-unwind-tables. One of them never returns, so that its code does not tell
 * how. 46001: by main; 46002: in a forked child, whose exit status says whether all went well. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf g_back;
static char *volatile g_text;

__attribute__((noinline)) static int allocate(int size) {
    char *block = malloc((size_t)size);
    int is_there = block != NULL;
    free(block);
    return is_there;
}

__attribute__((noinline, noreturn)) static void leave(int size) {
    char text[200];
    snprintf(text, sizeof text, "%d", size);
    g_text = text;
    longjmp(g_back, allocate(size) + 1);
}

__attribute__((noinline)) static int run(int size) {
    if (setjmp(g_back) != 0)
        return size;
    leave(size);
}

int main(void) {
    int status = 0, size = run(46001);
    pid_t child = fork();
    if (child == 0)
        exit(run(46002) != 46002);
    waitpid(child, &status, 0);
    printf("%d %d\n", size, status);
    return 0;
}
