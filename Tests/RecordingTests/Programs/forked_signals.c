/* Forks a child for each signal that ends a process, which does nothing but raise it, and tells how
 * each of them ended. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    static const int signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTERM, SIGINT};
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        pid_t child = fork();
        if (child == 0) {
            raise(signals[i]);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("%d: %d\n", signals[i], WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
    return 0;
}
