// Prints the signal mask and dispositions that a program starts with.
#include <signal.h>
#include <stdio.h>

int main(void) {
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < 32; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) != 0)
            continue;
        printf("%d %s%s\n", number, action.sa_handler == SIG_IGN ? "ignored" : "",
               sigismember(&mask, number) ? "blocked" : "");
    }
    return 0;
}
