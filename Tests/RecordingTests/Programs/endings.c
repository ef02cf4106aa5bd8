// Ends in the way that argv[1] names, after one allocation of 29001 bytes that it keeps.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *exit_from_thread(void *argument) {
    (void)argument;
    exit(16);
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    void *kept = malloc(29001);
    write(1, "ending\n", 7);
    if (kept == NULL)
        return 1;
    if (strcmp(way, "return") == 0)
        return 11;
    if (strcmp(way, "exit") == 0)
        exit(12);
    if (strcmp(way, "_exit") == 0)
        _exit(13);
    if (strcmp(way, "_Exit") == 0)
        _Exit(14);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(15);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "exit_group") == 0)
        syscall(SYS_exit_group, 17);
    if (strcmp(way, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, exit_from_thread, NULL);
        pause();
    }
    if (strcmp(way, "main-thread-first") == 0) {
        // The process ends with its last thread, long after main's.
        pthread_t thread;
        pthread_create(&thread, NULL, exit_from_thread, NULL);
        pthread_exit(NULL);
    }
    return 64;
}
