// C functions that are called as Go calls them (runtime.asmcgocall): on the thread's stack, while
// the caller waits on a stack of its own, in other memory, in code without unwind tables but with
// frame pointers. The size of a block tells which: 44001 to the outermost function, 44002 as
// another version of Go lays it out, 44003 from a goroutine in other memory at the same place of
// the thread's stack, 44004 where C code has called the goroutine, whose callers are not known,
// 44005 from one whose stack has moved meanwhile, so that rbp points to where it was, 44006 far
// down.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK = 1 << 20 };

// Begins as Go's does: with the bounds of its stack.
struct goroutine {
    char *low, *end;
};

typedef void called(int);
void start_goroutine(struct goroutine *, called *, int size, int depth, uintptr_t outermost);
void leave_by_16(void), leave_by_64(void);
void *assembly;

/* start_goroutine is C code's way in, goexit what the outermost function seems to return to.
 * rbx: the goroutine; r12: what it calls; r13: its argument; r14: how deep. */
__asm__(".text\n.globl start_goroutine, leave_by_16, leave_by_64\n"
        "start_goroutine:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\nsub $8, %rsp\n"
        "mov %rdi, %rbx\nmov %rsi, %r12\nmov %edx, %r13d\nmov %ecx, %r14d\nmov %rsp, %r15\n"
        "mov 8(%rbx), %rsp\nsub $64, %rsp\n"
        "mov %r8, %rbp\nlea goexit + 1(%rip), %rax\npush %rax\njmp outermost\n"
        "goexit: nop\ncall abort@PLT\n"
        "outermost: push %rbp\nmov %rsp, %rbp\ncall recurse\n"
        "mov %r15, %rsp\n"
        "add $8, %rsp\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        "recurse: push %rbp\nmov %rsp, %rbp\ndec %r14d\njz 1f\n"
        "call recurse\nnop\npop %rbp\nret\n"
        "1: call waiting\nnop\npop %rbp\nret\n"
        "waiting: push %rbp\nmov %rsp, %rbp\ncall *assembly(%rip)\nnop\npop %rbp\nret\n"
        "leave_by_16: mov %rsp, %rdx\nmov 8(%rbx), %rcx\nsub %rdx, %rcx\n"
        "mov %r15, %rsp\nsub $16, %rsp\nand $-16, %rsp\n"
        "mov %rbx, 8(%rsp)\nmov %rcx, 0(%rsp)\nmov %r13d, %edi\ncall *%r12\n"
        "mov 8(%rsp), %rdi\nmov 8(%rdi), %rsi\nsub 0(%rsp), %rsi\nmov %rsi, %rsp\nret\n"
        "leave_by_64: mov %rsp, %rdx\nmov 8(%rbx), %rcx\nsub %rdx, %rcx\n"
        "mov %r15, %rsp\nsub $64, %rsp\nand $-16, %rsp\n"
        "mov %rbx, 48(%rsp)\nmov %rcx, 40(%rsp)\nmov %r13d, %edi\ncall *%r12\n"
        "mov 48(%rsp), %rdi\nmov 8(%rdi), %rsi\nsub 40(%rsp), %rsi\nmov %rsi, %rsp\nret\n");

static struct goroutine goroutine, other;

__attribute__((noinline)) static void allocate(int size) {
    free(malloc((size_t)size));
}

static void copy_stack(char *to) {
    memcpy(to, goroutine.low, STACK);
    goroutine = (struct goroutine){to, to + STACK};
}

/* As Go does when a callback needs more room. */
__attribute__((noinline)) static void move_and_allocate(int size) {
    char *old = goroutine.low;
    copy_stack(other.low);
    allocate(size);
    copy_stack(old);
}

static char *new_stack(void) {
    return mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void) {
    char *stacks[] = {new_stack(), new_stack()};
    goroutine = (struct goroutine){stacks[0], stacks[0] + STACK};
    other = (struct goroutine){stacks[1], stacks[1] + STACK};
    for (int turn = 0; turn < 5; turn++) {
        assembly = leave_by_16;
        start_goroutine(&goroutine, allocate, 44001, 1, 0);
        start_goroutine(&other, allocate, 44003, 2, 0);
        start_goroutine(&goroutine, allocate, 44004, 1, (uintptr_t)&turn);
        start_goroutine(&goroutine, move_and_allocate, 44005, 1, 0);
        start_goroutine(&goroutine, allocate, 44006, 300, 0);
        assembly = leave_by_64;
        start_goroutine(&goroutine, allocate, 44002, 1, 0);
    }
    puts("done");
    return 0;
}
