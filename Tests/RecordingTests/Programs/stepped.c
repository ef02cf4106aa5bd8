/* Steps itself through its allocations, with the trap flag of x86 and a handler of SIGTRAP. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile long steps;

static void on_step(int signal) {
    (void)signal;
    steps++;
}

static void allocate(void) {
    void *blocks[100];
    for (int i = 0; i < 100; i++)
        blocks[i] = malloc(35001);
    for (int i = 0; i < 100; i++)
        free(blocks[i]);
}

int main(void) {
    signal(SIGTRAP, on_step);
    __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq" ::: "memory", "cc");
    allocate();
    __asm__ volatile("pushfq\n andq $~0x100, (%%rsp)\n popfq" ::: "memory", "cc");
    allocate();
    printf("%s\n", steps > 1000 ? "stepped" : "not stepped");
}
