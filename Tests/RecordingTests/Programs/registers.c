// Five blocks of 44001 bytes in registers that a call leaves alone, while a mark is set or a heap
// snapshot is taken, as argv[1] says. Compiled with memtrace.h.
#include <memtrace.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#    define FOR_EACH(X) X(a, "rbx") X(b, "r12") X(c, "r13") X(d, "r14") X(e, "r15")
#else
#    define FOR_EACH(X) X(a, "x19") X(b, "x21") X(c, "x23") X(d, "x26") X(e, "x28")
#endif
#define ALLOCATE(name, number) register char *name __asm__(number) = malloc(44001);
#define KEEP(name, number) __asm__ volatile("" : "+r"(name));

int main(int argc, char **argv) {
    int marks = argc > 1 && strcmp(argv[1], "mark") == 0;
    FOR_EACH(ALLOCATE)
    FOR_EACH(KEEP)
    if (marks)
        MEMTRACE_MARK("here");
    else
        MEMTRACE_SNAPSHOT("here");
    FOR_EACH(KEEP)
    return 0;
}
