// A library that calls memtrace before anything else does.
#include <memtrace.h>
#include <stdlib.h>

__attribute__((constructor)) static void first(void) {
    MEMTRACE_MARK("first");
    MEMTRACE_RESUME();
    free(malloc(31601));
    MEMTRACE_PAUSE();
}
