/* A line of a header within a function of the program, as optimisers leave it where they forget
 * what they have inlined. `probe` marks an instruction of it. */
extern char probe[];

__attribute__((noinline)) int outer(int size);

int main(int argc, char **argv) {
    (void)argv;
    return outer(argc) + (probe[0] == 0);
}

int outer(int size) {
    __asm__ volatile("nop" : "+r"(size)::"memory");
#line 137 "/usr/include/c++/12/bits/new_allocator.h"
    __asm__ volatile(".globl probe\nprobe: nop" : "+r"(size)::"memory");
    return size;
}
