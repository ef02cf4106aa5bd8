// Attached to while it runs: argv[1] says what it does, the commands in argv[2] and argv[3] are run
// before and after what is to be recorded, with its process ID as MARKED_PID.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *kept[8];

#ifdef OWN_ALLOCATOR
static char pool[1 << 20];
static size_t used;
void *malloc(size_t size) {
    void *block = pool + used;
    used += (size + 127) & ~(size_t)63;
    return block;
}
void free(void *block) {
    (void)block;
}
void *calloc(size_t count, size_t size) {
    return malloc(count * size);
}
void *realloc(void *block, size_t size) {
    (void)block;
    return malloc(size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    (void)alignment;
    return malloc(size);
}
#endif

// Runs a command without any function of the C library that waits for it.
static pid_t start(const char *command) {
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)0);
        _exit(127);
    }
    return child;
}

static int has_ended(pid_t child) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) != child)
        return 0;
    if (status != 0)
        printf("command failed: %d\n", status);
    return 1;
}

__attribute__((noinline)) static void leak(size_t size) {
    void *volatile block = malloc(size);
    memset(block, 0, size);
    block = NULL;
}

static void leaks(const char *first, const char *second) {
    void *early = malloc(21000), *moved = malloc(21001);
    system(first);
    leak(31001);
    leak(31002);
    kept[0] = malloc(31003);
    free(early);
    moved = realloc(moved, 31004);
    kept[1] = realloc(moved, 31005);
    free(malloc(31006));
    free(strdup("a text"));
    kept[2] = aligned_alloc(64, 31040);
    system(second);
    printf("%d\n", kept[0] && kept[1] && kept[2]);
}

static volatile int stops;

// Returns its own sum: registers of all kinds are in use.
static void *churn(void *argument) {
    unsigned seed = (unsigned)(size_t)argument;
    double sum = 0;
    void *blocks[64] = {0};
    errno = 77;
    for (unsigned long round = 0; !stops || round < 2000000; round++) {
        seed = seed * 1103515245 + 12345;
        unsigned slot = seed >> 16 & 63;
        free(blocks[slot]);
        blocks[slot] = seed & 1 ? malloc(1 + (seed >> 8 & 1023)) : calloc(1, 100);
        *(volatile char *)blocks[slot] = 1;
        if (round < 2000000)
            sum += (double)slot * 0.25;
        if (errno != 77)
            printf("errno has changed: %d\n", errno);
    }
    for (int i = 0; i < 64; i++)
        free(blocks[i]);
    double *result = malloc(sizeof *result);
    *result = sum;
    return result;
}

static void threads(const char *first, const char *second) {
    pthread_t others[4];
    for (size_t i = 0; i < 4; i++)
        pthread_create(&others[i], NULL, churn, (void *)(i + 1));
    pid_t child = start(first);
    unsigned long rounds = 0;
    for (; !has_ended(child); rounds++)
        free(malloc(100 + rounds % 1000));
    stops = 1;
    for (int i = 0; i < 4; i++) {
        double *sum;
        pthread_join(others[i], (void **)&sum);
        printf("%.2f\n", *sum);
        free(sum);
    }
    system(second);
}

static int interruptions;

static void expect(int result, int expected) {
    if (result < 0 && errno != expected) {
        interruptions++;
        printf("%s\n", strerror(errno));
    }
}

static void waits(const char *first) {
    struct epoll_event event = {.events = EPOLLIN};
    struct timespec time = {0, 10 * 1000 * 1000};
    struct timeval limit = {0, 10 * 1000};
    struct sembuf operation = {0, -1, 0};
    int polled = epoll_create1(EPOLL_CLOEXEC), pipe_ends[2], sockets[2];
    int semaphore = semget(IPC_PRIVATE, 1, 0600);
    sigset_t set;
    char byte;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pipe(pipe_ends);
    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    epoll_ctl(polled, EPOLL_CTL_ADD, pipe_ends[0], &event);
    pid_t child = start(first);
    while (!has_ended(child)) {
        expect(poll(NULL, 0, 10), 0);
        expect(epoll_wait(polled, &event, 1, 10), 0);
        expect(-(nanosleep(&time, NULL) != 0), 0);
        expect((int)recv(sockets[0], &byte, 1, 0), EAGAIN);
        expect(sigtimedwait(&set, NULL, &time), EAGAIN);
        expect(semtimedop(semaphore, &operation, 1, &time), EAGAIN);
    }
    semctl(semaphore, 0, IPC_RMID);
    printf("%d interruptions\n", interruptions);
}

static void children(const char *first, const char *second) {
    system(first);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        free(malloc(32001));
        leak(32002);
        exit(3);
    }
    waitpid(child, NULL, 0);
    kept[0] = malloc(32003);
    system("echo \"preload: $LD_PRELOAD, $(env | grep -c ^MEMTRACE)\"");
    system(second);
}

// One child has allocated before the second command, one has done nothing yet; both allocate behind
// it.
static void lasting_children(const char *first, const char *second) {
    int ready[2], go[2];
    char byte;
    pipe(ready);
    pipe(go);
    system(first);
    fflush(stdout);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            if (i == 0)
                kept[0] = malloc(32001);
            write(ready[1], "", 1);
            read(go[0], &byte, 1);
            for (int j = 0; j < 10; j++)
                kept[1] = malloc(21001);
            _exit(3 + i);
        }
    read(ready[0], &byte, 1);
    read(ready[0], &byte, 1);
    system(second);
    kept[0] = malloc(21002);
    write(go[1], "ab", 2);
    wait(NULL);
    wait(NULL);
}

static void fill(size_t size) {
    for (int i = 0; i < 400000; i++)
        free(malloc(100));
    free(malloc(size));
}

static void orphaned(const char *first, const char *second) {
    system(first);
    fill(31001);
    system(second);
    fill(21001);
}

static void library(const char *first, const char *path) {
    system(first);
    void *handle = dlopen(path, RTLD_NOW);
    void *(*allocate)(void) = (void *(*)(void))dlsym(handle, "plugin_allocate");
    free(allocate());
    dlclose(handle);
}

// Its arguments make room for a title, as those of servers do.
static void title(int argc, char **argv) {
    char *command = strdup(argv[2]);
    memset(argv[0], 0, (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]));
    strcpy(argv[0], "server: of /srv/all clients");
    system(command);
    if (fork() == 0)
        exit(3);
    wait(NULL);
}

int main(int argc, char **argv) {
    char pid[20];
    const char *which = argv[1], *second = argc > 3 ? argv[3] : "true";
    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("MARKED_PID", pid, 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(which, "leaks") == 0)
        leaks(argv[2], second);
    else if (strcmp(which, "threads") == 0)
        threads(argv[2], second);
    else if (strcmp(which, "waits") == 0)
        waits(argv[2]);
    else if (strcmp(which, "children") == 0)
        children(argv[2], second);
    else if (strcmp(which, "lasting") == 0)
        lasting_children(argv[2], second);
    else if (strcmp(which, "orphaned") == 0)
        orphaned(argv[2], second);
    else if (strcmp(which, "library") == 0)
        library(argv[2], second);
    else if (strcmp(which, "title") == 0)
        title(argc, argv);
    return 5;
}
