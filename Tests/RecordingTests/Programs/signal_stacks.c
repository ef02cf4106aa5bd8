/* Stacks for handlers of signals, of which only the kernel knows where they are: no leaks. And a
 * block that only such a stack holds, where a handler that has returned left its address: a leak.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t barrier;
static char *volatile handed_over;

static void on_signal(int number) {
    char *volatile slots[64];
    (void)number;
    for (int i = 0; i < 64; i++)
        slots[i] = handed_over;
    (void)slots[0];
}

/* The address is nowhere afterwards: not in a register, and where it was on the stack it is
 * overwritten. */
__attribute__((noinline)) static void keep_signal_stack(size_t size) {
    stack_t stack = {.ss_sp = malloc(size), .ss_size = size};
    sigaltstack(&stack, NULL);
    memset(&stack, 0, sizeof stack);
    __asm__ volatile("" : : "r"(&stack) : "memory");
}

__attribute__((noinline)) static void leak_behind_handler(void) {
    handed_over = malloc(10001);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    handed_over = NULL;
}

__attribute__((noinline)) static void overwrite_stack(void) {
    char *volatile slots[512];
    for (int i = 0; i < 512; i++)
        slots[i] = NULL;
    (void)slots[0];
}

static void *run(void *unused) {
    keep_signal_stack(40001);
    overwrite_stack();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, run, NULL);
    pthread_barrier_wait(&barrier);
    keep_signal_stack(30001);
    leak_behind_handler();
    overwrite_stack();
    exit(0);
}
