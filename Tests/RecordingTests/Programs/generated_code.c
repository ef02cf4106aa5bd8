// Threads allocate from code made at run time while the process forks; so do the children.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *(*trampoline)(void *(*)(size_t), size_t);

/* push %rbp; mov %rsp,%rbp; mov %rdi,%rax; mov %rsi,%rdi; call *%rax; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
                                     0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
static char *page;
static volatile int stops;

static void *allocate(void *unused) {
    for (unsigned i = 0; !stops; i++)
        free(((trampoline)(page + i % 256 * 16))(malloc, 100 + i % 32));
    return unused;
}

int main(void) {
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 256; i++)
        memcpy(page + i * 16, code, sizeof code);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, allocate, NULL);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child == 0) {
            free(((trampoline)page)(malloc, 35001));
            _exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        if (status != 0)
            printf("child %d: %x\n", i, status);
    }
    stops = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
