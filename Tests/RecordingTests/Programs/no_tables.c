// Allocates in an executable without any unwind table: -O1 -fomit-frame-pointer
// -Wl,--no-eh-frame-hdr.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int allocate(int size) {
    free(malloc((size_t)size));
    return size;
}

__attribute__((noinline)) static int run(int size) {
    return allocate(size) + 1;
}

int main(void) {
    int sum = run(44101);
    puts("done");
    return sum != 44102;
}
