// Allocates from code made at run time, which keeps in rbp what it likes. The size of a block tells
// which: 37001 a frame pointer, 37002 what its caller had there, 37003 a number, 37004 the address
// of something else on the stack, 37005 zero, 37006 a frame pointer below a jump;
// and 37007 from assembly without unwind table that has changed to another stack.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void (*code)(void (*)(int), int);

/* Each calls its first argument with its second: mov %rdi,%rax; mov %rsi,%rdi; call *%rax. */
#define CALL 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0
static const unsigned char with_frame_pointer[] = {0x55, 0x48, 0x89, 0xe5, CALL, 0x5d, 0xc3};
static const unsigned char untouched[] = {0x48, 0x83, 0xec, 0x08, CALL,
                                          0x48, 0x83, 0xc4, 0x08, 0xc3};
static const unsigned char number[] = {0x55, 0x48, 0xc7, 0xc5, 0x39, 0x30,
                                       0x00, 0x00, CALL, 0x5d, 0xc3};
/* push %rbp; sub $32,%rsp; mov %rsp,8(%rsp) as data; lea 8(%rsp),%rbp */
static const unsigned char elsewhere[] = {0x55, 0x48, 0x83, 0xec, 0x20, 0x48, 0x89, 0x64, 0x24,
                                          0x08, 0x48, 0x89, 0x64, 0x24, 0x10, 0x48, 0x8d, 0x6c,
                                          0x24, 0x08, CALL, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};
static const unsigned char zero[] = {0x55, 0x31, 0xed, CALL, 0x5d, 0xc3};
/* As an interpreter does: pushes where to go on, and jumps. The callee has a frame pointer.
 *   push %rbp; mov %rsp,%rbp; lea on(%rip),%rax; push %rax; jmp callee
 *   nop … on: pop %rbp; ret;   callee: push %rbp; mov %rsp,%rbp; call; pop %rbp; ret */
static const unsigned char jumping[] = {
    0x55, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x05, 0x0b, 0x00, 0x00, 0x00, 0x50, 0xeb, 0x0a, 0x90, 0x90,
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x5d, 0xc3, 0x55, 0x48, 0x89, 0xe5, CALL, 0x5d, 0xc3};

/* on_stack(function, argument, top): calls the function on another stack, as fibers begin. */
void on_stack(void (*)(int), int, void *);
__asm__(".text\n.type on_stack, @function\non_stack:\n"
        "push %rbp\npush %rbx\nmov %rsp, %rbx\nmov %rdx, %rsp\nmov $77, %ebp\n"
        "mov %rdi, %rax\nmov %esi, %edi\ncall *%rax\n"
        "mov %rbx, %rsp\npop %rbx\npop %rbp\nret\n.size on_stack, . - on_stack\n");
static char other_stack[65536] __attribute__((aligned(16)));

__attribute__((noinline)) static void allocate(int size) {
    free(malloc(size));
}

__attribute__((noinline)) static void run(const unsigned char *page, int size) {
    ((code)page)(allocate, size);
}

int main(void) {
    static const struct {
        const unsigned char *bytes;
        size_t length;
    } codes[] = {{with_frame_pointer, sizeof with_frame_pointer},
                 {untouched, sizeof untouched},
                 {number, sizeof number},
                 {elsewhere, sizeof elsewhere},
                 {zero, sizeof zero},
                 {jumping, sizeof jumping}};
    /* Return addresses with the byte of a call instruction in the middle: where one lies on the
     * stack, what comes five bytes behind looks like the place behind a call. */
    unsigned char *pages = mmap((void *)0x10e8000000, 6 * 4096, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 6; i++)
        memcpy(pages + i * 4096, codes[i].bytes, codes[i].length);
    mprotect(pages, 6 * 4096, PROT_READ | PROT_EXEC);
    for (int turn = 0; turn < 10; turn++) {
        for (int i = 0; i < 6; i++)
            run(pages + i * 4096, 37001 + i);
        on_stack(allocate, 37007, other_stack + sizeof other_stack);
    }
    puts("done");
    return 0;
}
