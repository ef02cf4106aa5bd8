// Code made at run time calls itself DEPTH times, then executes what is no instruction. The handler
// allocates, frees, and goes on behind it, as those of runtimes for WebAssembly do.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { SIZE = 49001, ROUNDS = 5 };

/* push %rbp; mov %rsp,%rbp; dec %rdi; jz 1f; call .; jmp 2f; 1: ud2; 2: pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x74, 0x07, 0xe8,
                                     0xf2, 0xff, 0xff, 0xff, 0xeb, 0x02, 0x0f, 0x0b, 0x5d, 0xc3};

static void on_trap(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    for (int i = 0; i < ROUNDS; i++)
        free(malloc(SIZE));
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

__attribute__((noinline)) static void enter(const char *page, long depth) {
    ((void (*)(long))page)(depth);
    puts("back");
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 64;
    char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    static char memory[1 << 16];
    sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = sizeof memory}, NULL);
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGILL, &action, NULL);
    enter(page, atol(argv[1]));
    return 0;
}
