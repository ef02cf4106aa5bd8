// Waits for a time in calls that a handler ends; meanwhile snapshots are asked for, one after the
// other, where the process is recorded. With "stack" the thread has a signal stack, and waits in
// those only that can go on there.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST = 63, LIMIT_MS = 200 };

static const struct timespec limit = {0, LIMIT_MS * 1000000};
static int epoll, semaphores;
static aio_context_t context;
static sigset_t unused;
static struct epoll_event event;

// As fortified programs call it.
int __poll_chk(struct pollfd *files, nfds_t count, int limit_ms, size_t size);

static int wait_poll(void) {
    return poll(NULL, 0, LIMIT_MS);
}

static int wait_poll_checked(void) {
    return __poll_chk(NULL, 0, LIMIT_MS, 0);
}

static int wait_poll_number(void) {
    return (int)syscall(SYS_poll, NULL, 0, LIMIT_MS);
}

static int wait_usleep(void) {
    return usleep(LIMIT_MS * 1000);
}

static int wait_nanosleep(void) {
    return nanosleep(&limit, NULL);
}

static int wait_nanosleep_number(void) {
    return (int)syscall(SYS_nanosleep, &limit, NULL);
}

static int wait_clock(void) {
    struct timespec rest;
    errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &limit, &rest);
    return errno ? -1 : 0;
}

static int wait_thread(void) {
    return thrd_sleep(&limit, NULL);
}

static int wait_epoll(void) {
    return epoll_wait(epoll, &event, 1, LIMIT_MS);
}

static int wait_epoll_precisely(void) {
    int result = epoll_pwait2(epoll, &event, 1, &limit, NULL);
    return result == -1 && errno == ENOSYS ? wait_epoll() : result;
}

static int wait_signal(void) {
    return sigtimedwait(&unused, NULL, &limit);
}

static int wait_semaphore(void) {
    struct sembuf operation = {0, -1, 0};
    return semtimedop(semaphores, &operation, 1, &limit);
}

static int wait_io(void) {
    struct io_event done;
    if (context == 0) // forbidden
        return wait_epoll();
    return (int)syscall(SYS_io_getevents, context, 1, 1, &done, &limit);
}

static int wait_futex(void) {
    static unsigned word;
    return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0);
}

static int sockets[2], listener, full, connecting;
static struct sockaddr_in address;

static int wait_receive(void) {
    char byte;
    return (int)recv(sockets[0], &byte, 1, 0);
}

static int wait_accept(void) {
    return accept(listener, NULL, NULL);
}

static int wait_connect(void) {
    return connect(connecting, (struct sockaddr *)&address, sizeof address);
}

static void open_connecting(int seconds, int milliseconds) {
    struct timeval time = {seconds, milliseconds * 1000};
    connecting = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(connecting, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

// Somebody else has connected already, for whom there is just room.
static void open_full(void) {
    socklen_t size = sizeof address;
    address = (struct sockaddr_in){.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    full = socket(AF_INET, SOCK_STREAM, 0);
    bind(full, (struct sockaddr *)&address, sizeof address);
    getsockname(full, (struct sockaddr *)&address, &size);
    listen(full, 0);
    int first = socket(AF_INET, SOCK_STREAM, 0);
    connect(first, (struct sockaddr *)&address, sizeof address);
    open_connecting(0, LIMIT_MS);
}

static void open_sockets(void) {
    struct timeval time = {0, LIMIT_MS * 1000};
    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    listen(listener, 1);
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

static volatile int is_over, is_sending, is_accepting;

static void help_on(int asked) {
    if (is_sending && asked == 3)
        send(sockets[1], "", 1, 0);
    if (is_accepting && asked == 3)
        accept(full, NULL, NULL);
}

static void *ask(void *argument) {
    unsigned long action[4] = {0}; // asked of the kernel: the recorder hides its handler
    char line[256];
    if (syscall(SYS_rt_sigaction, REQUEST, NULL, action, 8) < 0 || action[0] == 0) {
        help_on(3);
        return argument;
    }
    int asked = 0;
    while (!is_over) {
        unsigned long set, all = 0;
        FILE *file = fopen("/proc/self/status", "r");
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "SigPnd: %lx", &set) == 1 || sscanf(line, "SigBlk: %lx", &set) == 1)
                all |= set;
        if (file)
            fclose(file);
        if (!(all >> (REQUEST - 1) & 1) && syscall(SYS_tgkill, getpid(), getpid(), REQUEST) == 0)
            help_on(++asked);
    }
    return argument;
}

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void wait_in(const char *name, int (*function)(void)) {
    pthread_t asking;
    is_over = 0;
    pthread_create(&asking, NULL, ask, NULL);
    long long start = now();
    int result = function(), error = result < 0 ? errno : 0;
    long long passed = now() - start;
    is_over = 1;
    pthread_join(asking, NULL);
    if (result > 0 || (result < 0 && error != EAGAIN && error != ETIMEDOUT && error != EINPROGRESS))
        printf("%s returned %d, %s\n", name, result, strerror(error));
    else if (passed < LIMIT_MS * 1000000LL)
        printf("%s was over after %lld ns\n", name, passed);
    else
        printf("%s is over\n", name);
}

// What comes after a snapshot, while the thread that has taken it waits on.
static void receive(void) {
    pthread_t asking;
    char byte;
    is_over = 0;
    is_sending = 1;
    pthread_create(&asking, NULL, ask, NULL);
    ssize_t result = recv(sockets[0], &byte, 1, 0);
    is_over = 1;
    pthread_join(asking, NULL);
    printf("recv has %zd byte\n", result);
}

// Comes about when the kernel tries once more.
static void connect_at_last(void) {
    pthread_t asking;
    close(connecting); // would take the place that becomes free
    open_connecting(60, 0);
    is_over = 0;
    is_accepting = 1;
    pthread_create(&asking, NULL, ask, NULL);
    int result = wait_connect(), error = result < 0 ? errno : 0;
    is_over = 1;
    pthread_join(asking, NULL);
    printf("connect returned %d, %s\n", result, strerror(error));
}

static void use_signal_stack(void) {
    stack_t stack = {.ss_size = 65536};
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, NULL);
}

int main(int count, char **arguments) {
    int is_on_stack = count > 1 && strcmp(arguments[1], "stack") == 0;
    if (is_on_stack)
        use_signal_stack();
    epoll = epoll_create1(EPOLL_CLOEXEC);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    syscall(SYS_io_setup, 1, &context);
    sigemptyset(&unused);
    sigaddset(&unused, SIGUSR2);
    wait_in("poll", wait_poll);
    wait_in("__poll_chk", wait_poll_checked);
    wait_in("poll by number", wait_poll_number);
    wait_in("usleep", wait_usleep);
    wait_in("nanosleep", wait_nanosleep);
    wait_in("nanosleep by number", wait_nanosleep_number);
    wait_in("clock_nanosleep", wait_clock);
    wait_in("thrd_sleep", wait_thread);
    wait_in("epoll_wait", wait_epoll);
    wait_in("epoll_pwait2", wait_epoll_precisely);
    wait_in("sigtimedwait", wait_signal);
    wait_in("semtimedop", wait_semaphore);
    wait_in("io_getevents", wait_io);
    wait_in("FUTEX_WAIT", wait_futex);
    semctl(semaphores, 0, IPC_RMID);
    if (is_on_stack)
        return 0;
    open_sockets();
    wait_in("recv", wait_receive);
    wait_in("accept", wait_accept);
    open_full();
    wait_in("connect", wait_connect);
    receive();
    connect_at_last();
    return 0;
}
