// Snapshots where they might be noticed, or go wrong; argv[1] says which. Prints what wait() and
// the program's own handlers saw, ends with status 0.
#define _GNU_SOURCE
#include <errno.h>
#include <memtrace.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 20 };
static volatile int is_over;
static volatile sig_atomic_t handled;

static void *kept[10];

static void keep_blocks(void) {
    for (int i = 0; i < 10; i++)
        kept[i] = malloc(32001);
}

// A snapshot is refused while the one before is being written.
static void snapshots(void) {
    for (int i = 0; i < TIMES; i++)
        while (MEMTRACE_SNAPSHOT("hazard") == EBUSY)
            usleep(1000);
}

static void *run_threads(void *argument) {
    while (!is_over) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, (void *(*)(void *))malloc, (void *)10) == 0) {
            void *block;
            pthread_join(thread, &block);
            free(block);
        }
    }
    return argument;
}

static void *run_children(void *argument) {
    while (!is_over) {
        pid_t pid = fork();
        if (pid == 0) {
            free(malloc(32002));
            _exit(3);
        }
        int status = 0;
        if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
            printf("child: %x %s\n", status, strerror(errno));
    }
    return argument;
}

static void *change_ids(void *argument) {
    while (!is_over)
        if (setuid(getuid()) != 0)
            puts("setuid failed");
    return argument;
}

static void with_thread(void *(*body)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, body, NULL);
    snapshots();
    is_over = 1;
    pthread_join(thread, NULL);
}

static void count(int signal) {
    handled++;
}

static void leave(int signal) {
    _exit(0);
}

static void handle_all(void) {
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
        if (sigaction(signal, &(struct sigaction){.sa_handler = count}, NULL) != 0)
            puts("sigaction failed");
}

// Of children of all kinds, as debuggers wait for: the program has one each time.
static void wait_for_all(void) {
    for (int i = 0; i < TIMES; i++) {
        siginfo_t info = {0};
        int status = 0, found = 0, options = i % 2 ? __WALL : __WCLONE;
        pid_t pid = options == __WALL ? fork() : 0, last;
        if (options == __WALL && pid == 0)
            _exit(3);
        while (MEMTRACE_SNAPSHOT("hazard") == EBUSY)
            usleep(1000);
        do {
            switch (i / 2 % 5) {
            case 0:
                last = waitpid(-1, &status, options);
                break;
            case 1:
                last = wait3(&status, options, NULL);
                break;
            case 2:
                last = wait4(-1, &status, options, NULL);
                break;
            case 3:
                last = waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | options) ? -1 : info.si_pid;
                if (last == pid)
                    waitpid(pid, NULL, options);
                break;
            default:
                last = waitid(P_ALL, 0, &info, WEXITED | options) ? -1 : info.si_pid;
            }
            found += last == pid;
        } while (last == pid);
        if (last != -1 || errno != ECHILD || found != (options == __WALL))
            printf("%d: %d of %d, %d times\n", i, last, pid, found);
    }
}

static void *wait_forever(void *argument) {
    for (;;)
        pause();
    return argument;
}

// argv[2] is memtrace; what it says is of no interest where nothing is recorded.
static void request(const char *memtrace) {
    char command[5000];
    snprintf(command, sizeof command, "'%s' snapshot %d >/dev/null 2>&1", memtrace, getpid());
    system(command);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void take_time(void) {
    for (double start = seconds(); seconds() - start < 2.5;)
        usleep(10000);
}

// Marks the moment when the reader of a pipe learns that the host has closed it. Meanwhile 32 MiB
// of pointers are written.
static void close_pipe(void) {
    enum { POINTERS = 1 << 22 };
    void **pointers = malloc(POINTERS * sizeof *pointers);
    int ends[2];
    char byte;
    for (int i = 0; i < POINTERS; i++)
        pointers[i] = &pointers[i * 7919u % POINTERS];
    pipe(ends);
    MEMTRACE_SNAPSHOT("open");
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 0)
        puts("read failed");
    MEMTRACE_MARK("closed");
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    keep_blocks();
    if (strcmp(which, "not-dumpable") == 0)
        prctl(PR_SET_DUMPABLE, 0);
    if (strcmp(which, "threads") == 0)
        with_thread(run_threads);
    if (strcmp(which, "children") == 0)
        with_thread(run_children);
    if (strcmp(which, "ids") == 0)
        with_thread(change_ids);
    if (strcmp(which, "handlers") == 0) {
        handle_all();
        with_thread(run_threads);
    }
    if (strcmp(which, "vfork") == 0) {
        pid_t pid = vfork();
        if (pid == 0)
            _exit(4);
        waitpid(pid, NULL, 0);
    }
    if (strcmp(which, "wait-for-all") == 0)
        wait_for_all();
    if (strcmp(which, "wait") == 0)
        snapshots();
    if (strcmp(which, "in-handler") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, wait_forever, NULL);
        signal(SIGUSR1, leave);
        raise(SIGUSR1);
    }
    strcpy(kept[0], "secret7");
    if (strcmp(which, "requested") == 0)
        request(argv[2]);
    if (strcmp(which, "interval") == 0)
        take_time();
    if (strcmp(which, "terminated") == 0)
        raise(SIGTERM);
    if (strcmp(which, "pipe") == 0)
        close_pipe();
    if (strcmp(which, "mark") == 0)
        MEMTRACE_MARK("here");
    for (int i = 0; i < 5 && strcmp(which, "marks") == 0; i++)
        MEMTRACE_MARK("again");
    int status, seen = waitpid(-1, &status, WNOHANG);
    printf("%s: wait %d %s, handled %d\n", which, seen, strerror(errno), handled);
    return 0;
}
