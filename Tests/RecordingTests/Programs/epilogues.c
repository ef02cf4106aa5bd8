// Allocates below functions that have neither an unwind table nor a frame pointer. The size of a
// block tells which: 39001 that moves rsp, 39002 that saves registers, rbp among them, and returns
// by a jump, 39003 by way of a jump table, 39004 below another such function, 39005 that restores
// rbp without a pop, 39006 whose call is the last instruction, with another function behind it and
// an address of code where that one would return to, 39007 and 39008 by way of a function behind it
// that is nothing but a jump, as compilers make of one that equals another, 39009 and 39010 that
// end with a jump into another function, by way of a jump table and without.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

typedef void call(void (*)(int), int);
call moving, saving, exported, outer, loading, ending, merged, merged_far, leaving, leaving_near;

/* Each calls its first argument with its second. Without .cfi directives there is no table. */
__asm__(".text\n"
        "moving:\n"
        "sub $24, %rsp\nmov %rdi, %rax\nmov %esi, %edi\ncall *%rax\n"
        "add $24, %rsp\nret\n"
        "saving:\n"
        "push %rbp\npush %rbx\npush %r12\nsub $160, %rsp\n"
        "mov $77, %ebp\nmov %rdi, %rbx\nmov %esi, %edi\ncall *%rbx\n"
        "lea 8(%rsp), %rdi\nmovsd %xmm0, 8(%rsp)\ntest %rbp, %rbp\nje 1f\n"
        "mov %fs:40, %rax\nlea 160(%rsp), %rsp\npop %r12\njmp 2f\n"
        "1: ud2\n"
        "2: pop %rbx\npop %rbp\nret\n"
        ".globl exported\n.type exported, @function\nexported:\n"
        "push %rbx\nmov %rdi, %rax\nmov %esi, %edi\ncall *%rax\npop %rbx\nret\n"
        "outer:\n"
        "sub $8, %rsp\ncall moving\nadd $8, %rsp\nret\n"
        "loading:\n"
        "sub $24, %rsp\nmov %rbp, 8(%rsp)\nmov $99, %ebp\n"
        "mov %rdi, %rax\nmov %esi, %edi\ncall *%rax\n"
        "mov 8(%rsp), %rbp\nadd $24, %rsp\nret\n"
        "ending:\n"
        "sub $24, %rsp\nlea 3f(%rip), %rax\nmov %rax, 8(%rsp)\nmov $99, %ebp\n"
        "mov %rdi, %rax\nmov %esi, %edi\ncall *%rax\n"
        "pop %rax\nret\n"
        "call puts@PLT\n"
        "3: ret\n"
        "near:\n"
        "sub $24, %rsp\nmov %rdi, %rax\nmov %esi, %edi\ncall *%rax\n"
        "add $24, %rsp\nret\n"
        "merged:\njmp near\n"
        "merged_far:\njmp.d32 moving\n"
        "leaving:\n"
        "push %rbx\nmov %rdi, %rax\nmov %esi, %edi\ncall *%rax\n"
        "xor %edi, %edi\npop %rbx\njmp free@PLT\n"
        "leaving_near:\n"
        "sub $24, %rsp\nmov %rdi, %rax\nmov %esi, %edi\ncall *%rax\n"
        "add $24, %rsp\njmp 4f\n"
        "ud2\n"
        "4: push %rbx\npop %rbx\nret\n");

static jmp_buf back;

__attribute__((noinline)) static void allocate(int size) {
    free(malloc((size_t)size));
    if (size == 39006)
        longjmp(back, 1);
}

__attribute__((noinline)) static int run(call *function, int size) {
    function(allocate, size);
    return size;
}

__attribute__((noinline)) static int run_exported(int size) {
    exported(allocate, size);
    return size;
}

__attribute__((noinline)) static int run_merged(int size) {
    merged(allocate, size);
    return size;
}

__attribute__((noinline)) static int run_merged_far(int size) {
    merged_far(allocate, size);
    return size;
}

int main(void) {
    for (int turn = 0; turn < 10; turn++) {
        run(moving, 39001);
        run(saving, 39002);
        run_exported(39003);
        run(outer, 39004);
        run(loading, 39005);
        run_merged(39007);
        run_merged_far(39008);
        run(leaving, 39009);
        run(leaving_near, 39010);
        if (setjmp(back) == 0)
            run(ending, 39006);
    }
    puts("done");
    return 0;
}
