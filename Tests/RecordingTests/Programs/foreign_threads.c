// A thread that is none of the C library's: where its variables would be, only the page at the
// thread pointer has memory, and that holds a block. It waits, and counts how often that has ended.
//
// argv[1]: "exit": the process ends meanwhile
//          "snapshots": ten are taken, and then a signal ends the wait
//          "request": a snapshot is asked for by a signal that reaches the thread
//          "fault": the thread follows a null pointer
//          "terminate": it gets a signal that ends the process
//          "calls": there is memory of somebody else's, and the thread calls the kernel by number
//          "bare": there is none, and it does so as well
#define _GNU_SOURCE
#include <errno.h>
#include <memtrace.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, TIMES = 10, STACK = 65536, REQUEST = 63, BYTE = 0xa5 };
static volatile int has_begun, ended, faults, calls, is_bare, tid;
static int thread;
static void *kept;
static unsigned char *below;

static void wait_for_signal(void) {
    long result;
    __asm__ volatile("movl %1, %%eax; syscall"
                     : "=&a"(result)
                     : "i"(SYS_pause)
                     : "rcx", "r11", "memory");
}

// The first calls of the process, so that nobody has looked for the function yet.
static void call(void) {
    tid = (int)syscall(SYS_gettid);
    syscall(SYS_poll, NULL, 0, 0);
}

static int run(void *unused) {
    (void)unused;
    if (calls)
        call();
    has_begun = 1;
    if (faults)
        *(volatile int *)0 = 1;
    for (;;) {
        wait_for_signal();
        ended++;
    }
}

static void begin(void) {
    char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t *pointer = (uintptr_t *)(pages + PAGE);
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pointer, PAGE, PROT_READ | PROT_WRITE);
    if (calls && !is_bare) {
        below = (unsigned char *)pages;
        mprotect(below, PAGE, PROT_READ | PROT_WRITE);
        memset(below, BYTE, PAGE);
    }
    pointer[0] = (uintptr_t)pointer;
    pointer[1] = (uintptr_t)malloc(47011);
    clone(run, stack + STACK,
          CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
              CLONE_SETTLS | CLONE_PARENT_SETTID,
          NULL, &thread, pointer);
    while (!has_begun)
        sched_yield();
}

static void tell(int signal) {
    syscall(SYS_tgkill, getpid(), thread, signal);
}

static void ignore(int signal) {
    (void)signal;
}

static void take_snapshots(void) {
    for (int i = 0; i < TIMES; i++)
        while (MEMTRACE_SNAPSHOT("foreign") == EBUSY)
            sched_yield();
    signal(SIGUSR1, ignore);
    tell(SIGUSR1);
    while (ended == 0)
        sched_yield();
    printf("ended %d times\n", ended);
}

// The first thread holds it back until the other one has handed it on.
static void request(void) {
    uint64_t bit = (uint64_t)1 << (REQUEST - 1), pending = 0;
    void *action[4] = {NULL};
    syscall(SYS_rt_sigaction, REQUEST, NULL, action, sizeof bit);
    if (!action[0])
        return; // nobody would take it
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &bit, NULL, sizeof bit);
    tell(REQUEST);
    while (!(pending & bit)) {
        sched_yield();
        syscall(SYS_rt_sigpending, &pending, sizeof pending);
    }
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, NULL, sizeof bit);
}

static void count_changed(void) {
    int changed = 0;
    for (int i = 0; below && i < PAGE; i++)
        changed += below[i] != BYTE;
    printf("called by %s, changed %d bytes\n", tid == thread ? "the thread" : "another", changed);
}

int main(int count, char **arguments) {
    (void)count;
    kept = malloc(47001);
    faults = strcmp(arguments[1], "fault") == 0;
    is_bare = strcmp(arguments[1], "bare") == 0;
    calls = is_bare || strcmp(arguments[1], "calls") == 0;
    begin();
    if (strcmp(arguments[1], "snapshots") == 0)
        take_snapshots();
    else if (strcmp(arguments[1], "request") == 0)
        request();
    else if (calls)
        count_changed();
    else if (strcmp(arguments[1], "terminate") == 0)
        tell(SIGTERM);
    if (faults || strcmp(arguments[1], "terminate") == 0)
        for (;;)
            pause();
    puts("end");
    return 0;
}
