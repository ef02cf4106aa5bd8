// Ends with exit while a register, and nothing else, holds a block.
#include <stdlib.h>

static __attribute__((noinline)) void *make(void) {
    return malloc(773);
}

int main(void) {
    void *block = make();
    // As the variable of a function further out, which the compiler keeps in a register.
    __asm__ volatile("mov %0, %%rbx\n\t"
                     "xor %0, %0\n\t"
                     "xor %%edi, %%edi\n\t"
                     "call exit@PLT"
                     :
                     : "a"(block)
                     : "rbx", "rdi");
    return 0;
}
