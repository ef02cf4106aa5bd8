// Known leaks, and blocks that look like leaks and are none.
//
//   leaks LIBRARY   runs all cases; LIBRARY is leaks_plugin.c
//   leaks --list    prints the name of each case and how many blocks it leaks
//
// What a case allocates has nothing in it that was left behind by others. Each case is a function;
// its name is on the stack of all blocks that belong to it. Cases named leak_* leak, cases named
// keep_* hold what they allocate in unusual places until the process ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

struct node {
    struct node *next;
    long value;
};

struct tree {
    struct tree *left, *right;
    char *label;
};

struct pair {
    struct pair *other;
    struct node *list;
    long padding[2];
};

static const char *library;

static void require(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "leaks: %s failed\n", what);
    _exit(1);
}

// Overwrites what earlier calls left on the stack.
static void clear_stack(void) {
    char dead[32768];
    memset(dead, 0, sizeof dead);
    __asm__ volatile("" ::"r"(dead) : "memory");
}

/* ---- Leaks ---- */

static void leak_block(void) {
    memset(malloc(100), 1, 100);
}

static void leak_overwritten(void) {
    static char *text;
    for (int i = 0; i < 3; i++)
        text = malloc(16);
    require(text != NULL, "malloc");
}

static void leak_chain(void) {
    struct node *head = NULL;
    for (int i = 0; i < 5; i++) {
        struct node *node = malloc(sizeof(struct node));
        *node = (struct node){head, i};
        head = node;
    }
}

static struct tree *grow(int depth) {
    if (depth == 0)
        return NULL;
    struct tree *tree = calloc(1, sizeof(struct tree));
    tree->left = grow(depth - 1);
    tree->right = grow(depth - 1);
    return tree;
}

static void leak_tree(void) {
    struct tree *tree = grow(3);
    tree->label = calloc(1, 77);
}

static void leak_cycle(void) {
    struct pair *first = calloc(1, sizeof(struct pair));
    struct pair *second = calloc(1, sizeof(struct pair));
    first->other = second;
    second->other = first;
    first->list = malloc(sizeof(struct node));
    memset(first->list, 0, sizeof(struct node));
}

static void leak_self(void) {
    struct pair *pair = calloc(1, sizeof(struct pair));
    pair->other = pair;
}

// A cycle that holds another one.
static void leak_two_cycles(void) {
    struct node *nodes[4];
    for (int i = 0; i < 4; i++)
        nodes[i] = calloc(2, sizeof(struct node));
    nodes[0]->next = nodes[1];
    nodes[1]->next = nodes[0];
    nodes[1][1].next = nodes[2];
    nodes[2]->next = nodes[3];
    nodes[3]->next = nodes[2];
}

static void leak_by_freed_holder(void) {
    static struct pair *holder;
    holder = calloc(1, sizeof(struct pair));
    holder->list = calloc(1, 48);
    free(holder);
    holder = NULL;
}

static void leak_realloc(void) {
    char *block = realloc(malloc(10), 300);
    memset(block, 1, 300);
}

static void leak_aligned(void) {
    void *block;
    require(posix_memalign(&block, 64, 200) == 0, "posix_memalign");
    block = aligned_alloc(128, 384);
    block = NULL;
}

static void leak_big(void) {
    char *block = malloc(1 << 20);
    block[0] = 1;
}

static void leak_copy(void) {
    char *text = strdup("a string of twenty bytes and more");
    text[0] = 'A';
}

static void *leak_thread(void *unused) {
    struct node *volatile node = malloc(sizeof(struct node));
    node->next = calloc(1, 500);
    return NULL;
}

// The thread's stack, which glibc keeps for the next thread, still has its variables.
static void start_leaking_thread(void) {
    pthread_t thread;
    require(pthread_create(&thread, NULL, leak_thread, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
}

static void *call_plugin(const char *function, void *block) {
    void *plugin = dlopen(library, RTLD_NOW);
    require(plugin != NULL, "dlopen");
    void (*hold)(void *) = (void (*)(void *))dlsym(plugin, function);
    hold(block);
    return plugin;
}

static void leak_unloaded(void) {
    require(dlclose(call_plugin("plugin_hold", calloc(1, 321))) == 0, "dlclose");
}

static void leak_unmapped(void) {
    void **page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[7] = calloc(1, 322);
    munmap(page, 8192);
}

static void *leak_held_by_main(void) {
    return calloc(1, 323);
}

/* ---- No leaks ---- */

static void keep_variable(void) {
    static struct tree *tree;
    tree = grow(4);
}

static void keep_array(void) {
    static void *blocks[200];
    for (int i = 0; i < 200; i++)
        blocks[i] = malloc(i + 1);
}

static __thread void *local;

static void keep_thread_local(void) {
    local = calloc(1, sizeof(struct node));
}

static void keep_key(void) {
    pthread_key_t key;
    require(pthread_key_create(&key, NULL) == 0, "pthread_key_create");
    pthread_setspecific(key, calloc(1, 401));
}

// Values of all but the first 32 keys are in a block that glibc allocates.
static void keep_late_key(void) {
    pthread_key_t key;
    for (int i = 0; i < 100; i++)
        require(pthread_key_create(&key, NULL) == 0, "pthread_key_create");
    pthread_setspecific(key, calloc(1, 402));
}

static void keep_mapped(void) {
    void **page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[700] = calloc(1, 403);
    struct pair *pair = page[701] = calloc(1, sizeof(struct pair));
    pair->list = calloc(1, sizeof(struct node));
}

static void keep_shared(void) {
    void **page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    page[1] = calloc(1, 404);
}

static void keep_in_file(void) {
    int file = memfd_create("held", 0);
    require(ftruncate(file, 4096) == 0, "ftruncate");
    void **page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    page[1] = calloc(1, 405);
    close(file);
}

// Written, then made read-only, as hardened programs do.
static void keep_in_read_only(void) {
    void **page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[1] = calloc(1, 406);
    mprotect(page, 4096, PROT_READ);
}

static volatile int parked;

static void start_parked(void *(*run)(void *), void *argument) {
    pthread_t thread;
    parked = 0;
    require(pthread_create(&thread, NULL, run, argument) == 0, "pthread_create");
    while (!parked)
        sched_yield();
}

static void *park(void *unused) {
    parked = 1;
    for (;;)
        pause();
}

// What pthread_create keeps of the argument is gone when the thread moves it.
static void *volatile hand_over;

static void *park_with_stack(void *unused) {
    void *volatile block = hand_over;
    hand_over = NULL;
    return park(block ? NULL : block);
}

static void keep_on_stack(void) {
    hand_over = calloc(1, 407);
    start_parked(park_with_stack, NULL);
}

static void *park_with_local(void *unused) {
    local = hand_over;
    hand_over = NULL;
    return park(NULL);
}

static void keep_in_other_local(void) {
    hand_over = calloc(1, 408);
    start_parked(park_with_local, NULL);
}

static pthread_key_t parked_key;

static void *park_with_key(void *unused) {
    pthread_setspecific(parked_key, hand_over);
    hand_over = NULL;
    return park(NULL);
}

static void keep_in_other_key(void) {
    require(pthread_key_create(&parked_key, free) == 0, "pthread_key_create");
    hand_over = calloc(1, 409);
    start_parked(park_with_key, NULL);
}

// Nothing but one register has the address.
static void *park_with_register(void *unused) {
#if defined(__x86_64__)
    __asm__ volatile("mov %0, %%r12\n\t"
                     "movq $0, %0\n\t"
                     "movl $1, %1\n"
                     "1:\tmov %2, %%eax\n\t"
                     "syscall\n\t"
                     "jmp 1b"
                     : "+m"(hand_over), "=m"(parked)
                     : "i"(SYS_pause)
                     : "rax", "rcx", "r11", "r12", "memory");
#elif defined(__aarch64__)
    __asm__ volatile("ldr x19, %0\n\t"
                     "str xzr, %0\n\t"
                     "mov w20, #1\n\t"
                     "str w20, %1\n"
                     "1:\tmov x0, xzr\n\t"
                     "mov x1, xzr\n\t"
                     "mov x2, xzr\n\t"
                     "mov x3, xzr\n\t"
                     "mov x4, xzr\n\t"
                     "mov x8, %2\n\t"
                     "svc #0\n\t"
                     "b 1b"
                     : "+m"(hand_over), "=m"(parked)
                     : "i"(SYS_ppoll)
                     : "x0", "x1", "x2", "x3", "x4", "x8", "x19", "x20", "memory");
#endif
    return NULL;
}

static void keep_in_register(void) {
    hand_over = calloc(1, 410);
    start_parked(park_with_register, NULL);
}

static void *park_with_vector(void *unused) {
#if defined(__x86_64__)
    __asm__ volatile("movq %0, %%xmm9\n\t"
                     "movq $0, %0\n\t"
                     "movl $1, %1\n"
                     "1:\tmov %2, %%eax\n\t"
                     "syscall\n\t"
                     "jmp 1b"
                     : "+m"(hand_over), "=m"(parked)
                     : "i"(SYS_pause)
                     : "rax", "rcx", "r11", "xmm9", "memory");
    return NULL;
#else
    return park_with_stack(unused);
#endif
}

static void keep_in_vector(void) {
    hand_over = calloc(1, 411);
    start_parked(park_with_vector, NULL);
}

static ucontext_t main_context, other_context;

static void run_coroutine(void) {
    void *volatile block = hand_over;
    hand_over = NULL;
    swapcontext(&other_context, &main_context);
    free(block);
}

// Left for good in the middle, on a stack that the program mapped.
static void keep_in_coroutine(void) {
    char *stack =
        mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = 65536;
    hand_over = calloc(1, 412);
    makecontext(&other_context, run_coroutine, 0);
    swapcontext(&main_context, &other_context);
}

static void keep_in_library(void) {
    call_plugin("plugin_hold", calloc(1, 413));
}

static void keep_in_library_local(void) {
    call_plugin("plugin_hold_local", calloc(1, 414));
}

static void *freed_late;

static void free_late(void) {
    free(freed_late);
}

static void keep_until_exit_handler(void) {
    void **holder = malloc(8);
    *holder = NULL;
    freed_late = holder;
    atexit(free_late);
}

static uintptr_t hidden;

// The address is not in memory until the handler runs: only after it nothing is left.
__attribute__((destructor)) static void free_hidden(void) {
    if (hidden)
        free((void *)~hidden);
}

static void keep_until_destructor(void) {
    hidden = ~(uintptr_t)calloc(1, 415);
}

static void keep_system(void) {
    setenv("MEMTRACE_TEST_LEAKS", "a value that putenv cannot hold", 1);
    FILE *file = fopen("/dev/null", "w");
    fputs("buffered", file);
    static FILE *pipe_end;
    pipe_end = popen("exit 0", "r");
}

/* Held in ways that numbers might hold them by chance: possible leaks. */

static void keep_middle(void) {
    static long *middle;
    long *array = calloc(100, sizeof(long));
    middle = array + 50;
}

struct embedded {
    long number;
    long more;
    struct node link;
    void *owned;
};

static void keep_embedded(void) {
    static struct node *head;
    for (int i = 0; i < 3; i++) {
        struct embedded *element = calloc(1, sizeof(struct embedded));
        element->owned = calloc(1, 60);
        element->link.next = head;
        head = &element->link;
    }
}

static void keep_low_tag(void) {
    static uintptr_t tagged;
    tagged = (uintptr_t)calloc(1, sizeof(struct pair)) | 5;
}

static void keep_high_tag(void) {
    static uintptr_t tagged;
    tagged = (uintptr_t)calloc(1, sizeof(struct pair)) | (uintptr_t)0xfffa << 48;
}

/* ---- The list ---- */

#define CASE(name, leaked)                                                                         \
    { #name, (void (*)(void))name, leaked }

static const struct {
    const char *name;
    void (*run)(void);
    int leaked;
} cases[] = {
    CASE(leak_block, 1),
    CASE(leak_overwritten, 2),
    CASE(leak_chain, 5),
    CASE(leak_tree, 8),
    CASE(leak_cycle, 3),
    CASE(leak_self, 1),
    CASE(leak_two_cycles, 4),
    CASE(leak_by_freed_holder, 1),
    CASE(leak_realloc, 1),
    CASE(leak_aligned, 2),
    CASE(leak_big, 1),
    CASE(leak_copy, 1),
    CASE(leak_unloaded, 1),
    CASE(leak_unmapped, 1),
    CASE(keep_variable, 0),
    CASE(keep_array, 0),
    CASE(keep_thread_local, 0),
    CASE(keep_key, 0),
    CASE(keep_late_key, 0),
    CASE(keep_mapped, 0),
    CASE(keep_shared, 0),
    CASE(keep_in_file, 0),
    CASE(keep_in_read_only, 0),
    CASE(keep_on_stack, 0),
    CASE(keep_in_other_local, 0),
    CASE(keep_in_other_key, 0),
    CASE(keep_in_register, 0),
    CASE(keep_in_vector, 0),
    CASE(keep_in_coroutine, 0),
    CASE(keep_in_library, 0),
    CASE(keep_in_library_local, 0),
    CASE(keep_until_exit_handler, 0),
    CASE(keep_until_destructor, 0),
    CASE(keep_system, 0),
    CASE(keep_middle, 0),
    CASE(keep_embedded, 0),
    CASE(keep_low_tag, 0),
    CASE(keep_high_tag, 0),
    // Last, so that no later thread gets its stack.
    {"leak_thread", start_leaking_thread, 2},
};

static int list(void) {
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        printf("%s %d\n", cases[i].name, cases[i].leaked);
    puts("leak_held_by_main 1");
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 64;
    if (strcmp(argv[1], "--list") == 0)
        return list();
    library = argv[1];
    void *volatile block = leak_held_by_main();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        cases[i].run();
        clear_stack();
    }
    return block == NULL;
}
