// Stacks of unusual shape: fibers, longjmp, deep recursion, a function without frame pointer.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t main_context, fiber_context;
static char fiber_stack[262144];
static jmp_buf back;

static void fiber(void) {
    for (int i = 0; i < 5; i++) {
        free(malloc(25001));
        swapcontext(&fiber_context, &main_context);
    }
}

__attribute__((noinline)) static void leave(int depth) {
    volatile char frame[64];
    frame[0] = (char)depth;
    if (depth == 0) {
        free(malloc(26001));
        longjmp(back, 1);
    }
    leave(depth - 1);
    frame[1] = frame[0];
}

__attribute__((noinline)) static int deep(int depth) {
    if (depth == 0) {
        free(malloc(26003));
        return 0;
    }
    return deep(depth - 1) + 1;
}

int main(void) {
    getcontext(&fiber_context);
    fiber_context.uc_stack.ss_sp = fiber_stack;
    fiber_context.uc_stack.ss_size = sizeof fiber_stack;
    fiber_context.uc_link = &main_context;
    makecontext(&fiber_context, fiber, 0);
    for (int i = 0; i < 5; i++) {
        swapcontext(&main_context, &fiber_context);
        free(malloc(25002));
    }
    for (int i = 0; i < 10; i++)
        if (setjmp(back) == 0)
            leave(20);
    free(malloc(26002));
    printf("%d frames\n", deep(1000));
    return 0;
}
