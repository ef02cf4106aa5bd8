/* Asks the kernel itself for the signal stacks of its threads, and counts on those that there are,
 * as the runtime of Go does. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 1 << 16 };

static __thread stack_t found;
static pthread_barrier_t asked, handled;

static void on_signal(int signal) {
    char here;
    const char *first = found.ss_sp;
    int is_on_it = &here >= first && &here < first + found.ss_size;
    printf("signal %d %s\n", signal, is_on_it ? "on the signal stack" : "elsewhere");
    fflush(stdout);
}

/* As `minitSignalStack` of Go: https://go.dev/src/runtime/signal_unix.go. */
static void ask(void) {
    free(malloc(1000));
    syscall(SYS_sigaltstack, NULL, &found);
    if (!(found.ss_flags & SS_DISABLE))
        return;
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    found = (stack_t){.ss_sp = memory, .ss_size = SIZE};
    syscall(SYS_sigaltstack, &found, NULL);
}

static void *run(void *unused) {
    (void)unused;
    ask();
    pthread_barrier_wait(&asked);
    pthread_barrier_wait(&handled);
    raise(SIGUSR2);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&asked, NULL, 2);
    pthread_barrier_init(&handled, NULL, 2);
    ask();
    pthread_create(&thread, NULL, run, NULL);
    pthread_barrier_wait(&asked);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR1);
    pthread_barrier_wait(&handled);
    pthread_join(thread, NULL);
    raise(SIGUSR1);
    return 0;
}
