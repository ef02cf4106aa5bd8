// A block of 44003 bytes is lost; its address stays in a vector register of a thread that waits in
// a call of the C library, where nobody looks for it. With an argument the only thread does so, and
// is ended by a signal there.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ready[2];
static int never[2];

/* What malloc has left below. */
__attribute__((noinline)) static void clear_stack(void) {
    volatile char bytes[8192];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
}

static void *wait_with_register(void *ends) {
    pid_t tid = gettid();
#if defined(__x86_64__)
    __asm__ volatile("movq %0, %%xmm9" : : "r"(malloc(44003)) : "xmm9");
#else
    if (!malloc(44003))
        return NULL;
#endif
    clear_stack();
    if (write(ready[1], &tid, sizeof tid) != sizeof tid)
        return NULL;
#if defined(__x86_64__)
    /* What malloc has left in those that the call takes no arguments in, and the C library keeps.
     */
    __asm__ volatile("xor %%r8d, %%r8d; xor %%r9d, %%r9d; xor %%r10d, %%r10d"
                     :
                     :
                     : "r8", "r9", "r10");
#endif
    if (ends)
        kill(tid, SIGTERM);
    else
        (void)!read(never[0], &tid, sizeof tid);
    return NULL;
}

/* proc(5): the state stands behind the name, in parentheses. */
static int sleeps(pid_t tid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    int file = open(path, O_RDONLY);
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length < 0 ? 0 : length] = 0;
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[2] == 'S';
}

int main(int count, char **arguments) {
    pthread_t thread;
    pid_t tid;
    if (pipe(ready) || pipe(never))
        return 1;
    if (count > 1)
        wait_with_register(arguments);
    if (pthread_create(&thread, NULL, wait_with_register, NULL) ||
        read(ready[0], &tid, sizeof tid) != sizeof tid)
        return 1;
    while (!sleeps(tid))
        sched_yield();
    return 0;
}
