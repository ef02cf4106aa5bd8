/* Looks at signals that end a process, and installs handlers where there is none, as interpreters
 * and language runtimes do when they start. argv[1]: how it ends. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGHUP, SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                              SIGFPE, SIGSEGV, SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGSYS};
static struct sigaction before_ours;

static void handle(int number) {
    (void)number;
    write(1, "handled\n", 8);
}

/* The fault comes again when this has returned. */
static void reset_by_signal(int number) {
    handle(number);
    signal(number, SIG_DFL);
}

static void reset(int number) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    handle(number);
    sigaction(number, &standard, NULL);
}

static void restore(int number) {
    handle(number);
    sigaction(number, &before_ours, NULL);
}

static void look(int number) {
    struct sigaction seen, action = {.sa_handler = handle};
    sigaction(number, NULL, &seen);
    printf("%d: %d %x", number, seen.sa_handler == SIG_DFL, (unsigned)seen.sa_flags);
    printf(" %d", signal(number, SIG_DFL) == SIG_DFL);
    printf(" %d", signal(number, handle) == SIG_DFL);
    sigaction(number, NULL, &seen);
    printf(" %d", seen.sa_handler == handle);
    printf(" %d", signal(number, SIG_DFL) == handle);
    sigaction(number, &action, &seen);
    printf(" %d", seen.sa_handler == SIG_DFL);
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, &seen);
    printf(" %d\n", seen.sa_handler == handle);
}

static void install(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(number, NULL, &before_ours);
    if (before_ours.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    char *kept = malloc(29003);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        look(signals[i]);
    fflush(stdout);
    if (strcmp(way, "reset") == 0)
        install(SIGSEGV, reset);
    if (strcmp(way, "reset-by-signal") == 0)
        install(SIGSEGV, reset_by_signal);
    if (strcmp(way, "restore") == 0)
        install(SIGSEGV, restore);
    if (strcmp(way, "interrupt") == 0) {
        install(SIGINT, handle);
        raise(SIGINT);
        return kept == NULL;
    }
    *(volatile int *)8 = 1;
    return 64;
}
