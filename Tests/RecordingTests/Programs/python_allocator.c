// Has the symbol by which the interpreter of Python is known, and forks a child, which says so.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *PyObject_Malloc(size_t size) {
    return malloc(size);
}

int main(void) {
    free(PyObject_Malloc(46001));
    if (fork() == 0) {
        free(PyObject_Malloc(46002));
        _exit(0);
    }
    wait(NULL);
    puts("done");
    return 0;
}
