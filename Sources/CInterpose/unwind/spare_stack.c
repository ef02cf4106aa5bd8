/* See spare_stack.h. */
#include "unwind/spare_stack.h"

enum { SPARE_STACKS = 4, SPARE_STACK_SIZE = 32 << 10 };

static struct {
    char stacks[SPARE_STACKS][SPARE_STACK_SIZE] __attribute__((aligned(16)));
    uint32_t owners[SPARE_STACKS]; /* thread IDs; 0: free */
} g_spare;
MT_IDLE_AT_START(g_spare);

/* Calls function(pcs, capacity) with the stack pointer at top. Its frame is found from the frame
 * pointer, which the function that is called keeps, so that who unwinds comes back to the stack
 * that was left. */
int mt_call_on_stack(int (*function)(void **, int), void **pcs, int capacity, void *top);

#if defined(__x86_64__)
__asm__(".text\n"
        ".hidden mt_call_on_stack\n"
        ".globl mt_call_on_stack\n"
        ".type mt_call_on_stack, @function\n"
        "mt_call_on_stack:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    movq %rcx, %rsp\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movl %edx, %esi\n"
        "    callq *%rax\n"
        "    movq %rbp, %rsp\n"
        "    popq %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size mt_call_on_stack, . - mt_call_on_stack\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".hidden mt_call_on_stack\n"
        ".globl mt_call_on_stack\n"
        ".type mt_call_on_stack, %function\n"
        "mt_call_on_stack:\n"
        "    .cfi_startproc\n"
        "    hint #34\n" /* bti c */
        "    stp x29, x30, [sp, #-16]!\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset x29, -16\n"
        "    .cfi_offset x30, -8\n"
        "    mov x29, sp\n"
        "    .cfi_def_cfa_register x29\n"
        "    mov sp, x3\n"
        "    mov x9, x0\n"
        "    mov x0, x1\n"
        "    mov w1, w2\n"
        "    blr x9\n"
        "    mov sp, x29\n"
        "    ldp x29, x30, [sp], #16\n"
        "    .cfi_def_cfa sp, 0\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size mt_call_on_stack, . - mt_call_on_stack\n");
#endif

int mt_spare_stack_call(int (*function)(void **, int), void **pcs, int capacity) {
    uint32_t self = (uint32_t)mt_os_tid();
    for (uint32_t i = 0; i < SPARE_STACKS; i++) {
        uint32_t none = 0;
        if (!__atomic_compare_exchange_n(&g_spare.owners[i], &none, self, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        int result = mt_call_on_stack(function, pcs, capacity, g_spare.stacks[i + 1]);
        __atomic_store_n(&g_spare.owners[i], 0, __ATOMIC_RELEASE);
        return result;
    }
    return -1;
}

void mt_spare_stack_survive_fork(void) {
    for (uint32_t i = 0; i < SPARE_STACKS; i++)
        __atomic_store_n(&g_spare.owners[i], 0, __ATOMIC_RELAXED);
}
