// Announces memory that nobody has written to, of which no compiler is to warn.
#include <memtrace.h>

int main(void) {
    int block[4];
    MEMTRACE_ALLOCATED(block, sizeof block);
    MEMTRACE_IGNORE(block);
    MEMTRACE_FREED(block);
    return 0;
}
