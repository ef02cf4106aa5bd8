/* Sets all signals to their defaults, as daemons do when they start, or handles all of them. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static volatile int handled;

static void handle(int number) {
    handled = number;
}

/* Waits for longer than an interval, with the processor: no signal is to come. */
static void take_time(void) {
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += 200000000;
    end.tv_sec += 1 + end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

int main(int argc, char **argv) {
    int is_handler = argc > 1 && strcmp(argv[1], "handlers") == 0;
    struct sigaction action = {.sa_handler = is_handler ? handle : SIG_DFL}, before;
    for (int number = 1; number <= SIGRTMAX; number++) {
        if (number == SIGKILL || number == SIGSTOP || (number > 31 && number < SIGRTMIN))
            continue;
        sigaction(number, NULL, &before);
        if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
            printf("signal %d has a handler\n", number);
        if (argc > 2 && strcmp(argv[2], "signal") == 0)
            before.sa_handler = signal(number, action.sa_handler);
        else
            sigaction(number, &action, &before);
        if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
            printf("signal %d had a handler\n", number);
    }
    take_time();
    printf("handled %d\n", handled);
    return 0;
}
