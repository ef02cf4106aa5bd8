// A thread that never waits keeps blocks in vector registers alone, as wide as the processor has
// them: so does code that swaps or copies pointers. A block of 45000 bytes is lost.
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

static uintptr_t blocks[16];
static int count; /* of blocks, as many as fit */
static volatile int ready;

/* What malloc has left below. */
__attribute__((noinline)) static void clear_stack(void) {
    volatile char bytes[8192];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
}

/* Loads the registers, clears the memory, says so and goes on for ever. */
#if defined(__x86_64__)
#    define KEEP(load)                                                                             \
        __asm__ volatile(load "\n\tmovl $16, %%ecx\n"                                              \
                              "0:\tmovq $0, -8(%0,%%rcx,8)\n\tdecl %%ecx\n\tjnz 0b\n\t"            \
                              "movl $1, %1\n1:\tpause\n\tjmp 1b"                                   \
                         :                                                                         \
                         : "r"(blocks), "m"(ready)                                                 \
                         : "rcx", "memory")

static void choose_count(void) {
    count = __builtin_cpu_supports("avx512f") ? 16 : __builtin_cpu_supports("avx") ? 4 : 2;
}

static void *keep(void *unused) {
    if (count == 16)
        KEEP("vmovdqu64 (%0), %%zmm9\n\tvmovdqu64 64(%0), %%zmm25");
    else if (count == 4)
        KEEP("vmovdqu (%0), %%ymm9");
    else
        KEEP("movdqu (%0), %%xmm9");
    return unused;
}
#elif defined(__aarch64__)
static void choose_count(void) {
    count = 2;
}

static void *keep(void *unused) {
    __asm__ volatile("ldr q9, [%0]\n\tstp xzr, xzr, [%0]\n\tmov w9, #1\n\tstr w9, %1\n1:\tb 1b"
                     :
                     : "r"(blocks), "m"(ready)
                     : "x9", "v9", "memory");
    return unused;
}
#endif

int main(void) {
    pthread_t thread;
    choose_count();
    for (int i = 0; i < count; i++)
        blocks[i] = (uintptr_t)malloc(45001 + (size_t)i);
    if (!malloc(45000) || pthread_create(&thread, NULL, keep, NULL))
        return 1;
    while (!ready)
        sched_yield();
    clear_stack();
    return 0;
}
