// Does to one block what it is told, step by step.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <memtrace.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static unsigned char *make_block(const char *with, size_t size) {
    void *block = NULL;
    if (strcmp(with, "malloc") == 0)
        block = malloc(size);
    else if (strcmp(with, "calloc") == 0)
        block = calloc(1, size);
    else if (strcmp(with, "realloc") == 0)
        block = realloc(malloc(8), size);
    else if (strcmp(with, "shrink") == 0)
        block = realloc(malloc(10000), size);
    else if (strcmp(with, "reallocarray") == 0)
        block = reallocarray(NULL, size, 1);
    else if (strcmp(with, "posix_memalign") == 0 && posix_memalign(&block, 256, size) != 0)
        block = NULL;
    else if (strcmp(with, "aligned_alloc") == 0)
        block = aligned_alloc(8, size);
    else if (strcmp(with, "memalign") == 0)
        block = memalign(64, size);
    else if (strcmp(with, "valloc") == 0)
        block = valloc(size);
    return block;
}

__attribute__((noinline)) static void write_byte(volatile unsigned char *block, long offset) {
    block[offset] = 7;
}

__attribute__((noinline)) static int read_byte(volatile unsigned char *block, long offset) {
    return block[offset];
}

__attribute__((noinline)) static void drop_block(unsigned char *block) {
    free(block);
}

// A sandbox for what writes and ends: write, fstat, brk, exit, exit_group, newfstatat.
static void enter_sandbox(void) {
#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_fstat),
        ALLOW(SYS_brk),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_newfstatat),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// Many blocks, all live at once, then none.
static int fill_and_empty(size_t count) {
    unsigned char **blocks = malloc(count * sizeof *blocks);
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(1 + i % 100);
        memset(blocks[i], (int)i, 1 + i % 100);
    }
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        wrong += blocks[i][i % 100] != (unsigned char)i;
        free(blocks[i]);
    }
    free(blocks);
    return wrong;
}

static int in_child(unsigned char *block) {
    pid_t child = fork();
    if (child == 0) {
        free(malloc(1));
        drop_block(block);
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}

static int count_mappings(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    int lines = 0, c;
    while ((c = fgetc(maps)) != EOF)
        lines += c == '\n';
    fclose(maps);
    return lines;
}

// usage: guarded WITH SIZE STEP ...
int main(int argc, char **argv) {
    if (argc < 3)
        return 1;
    size_t size = strtoul(argv[2], NULL, 0);
    unsigned char *block = make_block(argv[1], size);
    printf("%d %zu %d\n", block != NULL, malloc_usable_size(block), (int)((uintptr_t)block % 16));
    fflush(stdout);
    for (int i = 3; i < argc; i++) {
        const char *step = argv[i];
        long number = strchr(step, ':') ? strtol(strchr(step, ':') + 1, NULL, 0) : 0;
        if (strncmp(step, "write:", 6) == 0)
            write_byte(block, number);
        else if (strncmp(step, "read:", 5) == 0)
            printf("%d\n", read_byte(block, number));
        else if (strcmp(step, "free") == 0)
            drop_block(block);
        else if (strncmp(step, "free:", 5) == 0)
            drop_block(block + number);
        else if (strcmp(step, "grow") == 0)
            block = realloc(block, size + 10000);
        else if (strcmp(step, "empty") == 0)
            block = realloc(block, 0);
        else if (strcmp(step, "mark") == 0)
            MEMTRACE_MARK("looked at");
        else if (strcmp(step, "child") == 0)
            printf("child %d\n", in_child(block));
        else if (strcmp(step, "sandbox") == 0)
            enter_sandbox();
        else if (strcmp(step, "mappings") == 0)
            printf("mappings %d\n", count_mappings());
        else if (strncmp(step, "many:", 5) == 0)
            printf("wrong %d\n", fill_and_empty((size_t)number));
        else if (strncmp(step, "turns:", 6) == 0)
            for (long turn = 0; turn < number; turn++)
                fill_and_empty(2);
        else if (strcmp(step, "_exit") == 0)
            _exit(0);
    }
    return 0;
}
