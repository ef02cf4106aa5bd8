/* Allocates 47001 bytes from code made at run time, which it lists for perf as runtimes do. With an
 * argument, the list is of something else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *(*trampoline)(void *(*)(size_t), size_t);

/* push %rbp; mov %rsp,%rbp; mov %rdi,%rax; mov %rsi,%rdi; call *%rax; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
                                     0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};

int main(int argc, char **argv) {
    (void)argv;
    char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page + 64, code, sizeof code);
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *list = fopen(path, "w");
    if (!list)
        return 1;
    fprintf(list, "%lx %zx JS:*parse /srv/app.js:12:7\n",
            (unsigned long)(page + (argc > 1 ? 0 : 64)), sizeof code);
    fclose(list);
    char *volatile block = ((trampoline)(page + 64))(malloc, 47001);
    return block == NULL;
}
