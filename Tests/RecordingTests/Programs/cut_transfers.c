/* Moves more than there is room for, in one call, while snapshots are taken: tells how much each
 * has moved. Threads that still do so in the end never return. argv[1]: "signals" interrupts them
 * once they have moved a part, with a handler; argv[2]: "stacks" gives each of them a signal stack,
 * and takes a second snapshot meanwhile, before a signal that does nothing reaches them. */
#define _GNU_SOURCE
#include "memtrace.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SIZE = 1 << 20, FIRST = 1000, STACK = 16384 };

struct transfer {
    const char *name;
    long (*move)(int file, char *bytes);
    int is_socket, is_read;
    int ends[2]; /* 0: what the thread does not use */
    long result;
    volatile pid_t thread;
    char *bytes;
};

static long by_write(int file, char *bytes) {
    return write(file, bytes, SIZE);
}

static long by_writev(int file, char *bytes) {
    struct iovec parts[] = {{bytes, FIRST}, {bytes, 0}, {bytes + FIRST, SIZE - FIRST}};
    return writev(file, parts, 3);
}

static long by_send(int file, char *bytes) {
    return send(file, bytes, SIZE, MSG_NOSIGNAL);
}

static long by_sendmsg(int file, char *bytes) {
    struct iovec parts[] = {{bytes, FIRST}, {bytes + FIRST, SIZE - FIRST}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    return sendmsg(file, &message, 0);
}

static long by_recv(int file, char *bytes) {
    return recv(file, bytes, SIZE, MSG_WAITALL);
}

static struct transfer transfers[] = {
    {"write to a pipe", by_write, 0, 0},   {"writev to a pipe", by_writev, 0, 0},
    {"write to a socket", by_write, 1, 0}, {"send", by_send, 1, 0},
    {"sendmsg", by_sendmsg, 1, 0},         {"recv", by_recv, 1, 1},
};

enum { TRANSFERS = sizeof transfers / sizeof *transfers };

static int has_stacks;

static void *work(void *argument) {
    struct transfer *transfer = argument;
    stack_t stack = {.ss_sp = has_stacks ? malloc(STACK) : NULL, .ss_size = STACK};
    if (has_stacks)
        sigaltstack(&stack, NULL);
    transfer->thread = (pid_t)syscall(SYS_gettid);
    transfer->result = transfer->move(transfer->ends[1], transfer->bytes);
    return NULL;
}

/* Whether a thread stands still in a call with this descriptor. */
static int is_waiting(pid_t thread, int file) {
    char path[64], state = 0;
    unsigned long first = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *stat = fopen(path, "r");
    int read = stat && fscanf(stat, "%*d %*s %c", &state) == 1 && state == 'S';
    if (stat)
        fclose(stat);
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    FILE *call = fopen(path, "r");
    int is_in_call = call && fscanf(call, "%*u %lx", &first) == 1 && (int)first == file;
    if (call)
        fclose(call);
    return read && is_in_call;
}

static void begin(struct transfer *transfer, pthread_t *thread) {
    if (transfer->is_socket)
        socketpair(AF_UNIX, SOCK_STREAM, 0, transfer->ends);
    else if (pipe(transfer->ends) != 0)
        abort();
    transfer->bytes = malloc(SIZE);
    for (int i = 0; i < SIZE; i++)
        transfer->bytes[i] = transfer->is_read ? 0 : (char)(i * 7 + i / 251);
    if (transfer->is_read && write(transfer->ends[0], "begin", 5) != 5)
        abort();
    pthread_create(thread, NULL, work, transfer);
    while (transfer->thread == 0 || !is_waiting(transfer->thread, transfer->ends[1]))
        sched_yield();
    int left = 1;
    while (transfer->is_read && ioctl(transfer->ends[1], FIONREAD, &left) == 0 && left != 0)
        sched_yield();
}

/* Moves the rest at the other end. returns whether all arrives as it was sent */
static int end(struct transfer *transfer) {
    static char there[SIZE];
    size_t moved = transfer->is_read ? 5 : 0;
    long count = 1;
    for (; moved < SIZE && count > 0; moved += (size_t)(count > 0 ? count : 0))
        count = transfer->is_read ? write(transfer->ends[0], there + moved, SIZE - moved)
                                  : read(transfer->ends[0], there + moved, SIZE - moved);
    return transfer->is_read || memcmp(there, transfer->bytes, SIZE) == 0;
}

static void nothing(int signal) {
    (void)signal;
}

static volatile int rounds, is_over, is_cut;

/* These never wait, and take long. */
static void *read_devices(void *unused) {
    enum { MUCH = 16 * SIZE };
    char *bytes = malloc(MUCH);
    int zero = open("/dev/zero", O_RDONLY);
    do {
        is_cut |= read(zero, bytes, MUCH) != MUCH;
        is_cut |= getrandom(bytes, SIZE, 0) != SIZE;
        __atomic_fetch_add(&rounds, 1, __ATOMIC_RELEASE);
    } while (!is_over);
    return unused;
}

static void *never_ends(void *file) {
    static char bytes[SIZE];
    write(*(int *)file, bytes, SIZE);
    write(1, "went on\n", 8);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[TRANSFERS], last;
    int has_signals = argc > 1 && strcmp(argv[1], "signals") == 0;
    has_stacks = argc > 2 && strcmp(argv[2], "stacks") == 0;
    signal(SIGUSR1, nothing);
    for (int i = 0; i < TRANSFERS; i++)
        begin(&transfers[i], &threads[i]);
    pthread_create(&last, NULL, read_devices, NULL);
    while (!__atomic_load_n(&rounds, __ATOMIC_ACQUIRE))
        sched_yield();
    MEMTRACE_SNAPSHOT("while all wait");
    while (has_stacks && MEMTRACE_SNAPSHOT("while handlers wait") == EBUSY)
        sched_yield();
    for (int i = 0; i < TRANSFERS && has_stacks; i++)
        pthread_kill(threads[i], SIGWINCH);
    for (int i = 0; i < TRANSFERS && has_signals; i++) {
        pthread_kill(threads[i], SIGUSR1);
        pthread_join(threads[i], NULL);
        printf("%s was cut: %d\n", transfers[i].name,
               transfers[i].result > 0 && transfers[i].result < SIZE);
    }
    for (int i = 0; i < TRANSFERS && !has_signals; i++) {
        int is_whole = end(&transfers[i]);
        pthread_join(threads[i], NULL);
        printf("%s: %ld, %d\n", transfers[i].name, transfers[i].result, is_whole);
    }
    is_over = 1;
    pthread_join(last, NULL);
    printf("none of a device was cut: %d\n", !is_cut);
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&last, NULL, never_ends, &ends[1]);
    for (int room = 0; room < 65536;)
        ioctl(ends[0], FIONREAD, &room);
    fflush(stdout);
    return 3;
}
