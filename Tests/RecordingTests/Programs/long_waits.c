// Waits without a time limit, until a moment or for long, in calls that the kernel lets fail with
// EINTR when a signal has a handler; meanwhile commands run, one after the other. Who is
// interrupted by any signal but those of this program says so.
//
// With "signals" each thread gets one while it stands still, of which it is to learn. With "each"
// each thread is asked for a snapshot while it waits itself. "attached" leaves out waits that only
// go on when the recorder has seen them begin.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static volatile int is_over;
static int epoll, messages, semaphores;
static sem_t semaphore;
static sigset_t none, unused, used;

static int wait_poll(void) {
    return poll(NULL, 0, -1);
}

static int wait_poll_for_long(void) {
    return poll(NULL, 0, 1000000);
}

static int wait_ppoll(void) {
    return ppoll(NULL, 0, NULL, &none);
}

static int wait_epoll(void) {
    struct epoll_event event;
    return epoll_wait(epoll, &event, 1, -1);
}

static int wait_epoll_number(void) {
    struct epoll_event event;
    return (int)syscall(SYS_epoll_wait, epoll, &event, 1, -1);
}

static int wait_epoll_for_long(void) {
    struct epoll_event event;
    return epoll_wait(epoll, &event, 1, 1000000);
}

static int wait_epoll_masked(void) {
    struct epoll_event event;
    return epoll_pwait(epoll, &event, 1, 1000000, &none);
}

static int wait_epoll_precisely(void) {
    struct timespec time = {1000, 0};
    struct epoll_event event;
    int result = epoll_pwait2(epoll, &event, 1, &time, NULL);
    return result == -1 && errno == ENOSYS ? pause() : result;
}

static int wait_select(void) {
    return select(0, NULL, NULL, NULL, NULL);
}

static int wait_pselect(void) {
    return pselect(0, NULL, NULL, NULL, NULL, &none);
}

static int wait_pause(void) {
    return pause();
}

static int wait_suspended(void) {
    return sigsuspend(&none);
}

static int wait_signal(void) {
    return sigwaitinfo(&unused, NULL);
}

static int wait_signal_for_long(void) {
    struct timespec time = {1000, 0};
    return sigtimedwait(&unused, NULL, &time);
}

static int wait_sleep(void) {
    return sleep(1000) == 0 ? 0 : -1;
}

static int wait_nanosleep(void) {
    struct timespec time = {1000, 0};
    return nanosleep(&time, &time);
}

static int wait_nanosleep_elsewhere(void) {
    struct timespec time = {1000, 0}, rest;
    return nanosleep(&time, &rest);
}

static int wait_usleep(void) {
    return usleep(1000000000);
}

static int wait_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += 1000;
    errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    return errno ? -1 : 0;
}

static int wait_semaphore(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 1000;
    return sem_timedwait(&semaphore, &time);
}

static int wait_old_semaphore(void) {
    struct sembuf operation = {0, -1, 0};
    return semop(semaphores, &operation, 1);
}

static int wait_old_semaphore_for_long(void) {
    struct timespec time = {1000, 0};
    struct sembuf operation = {0, -1, 0};
    return semtimedop(semaphores, &operation, 1, &time);
}

static int wait_futex_number(void) {
    static unsigned word;
    struct timespec time = {1000, 0};
    return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

static int wait_message(void) {
    struct msgbuf {
        long type;
        char text[8];
    } message;
    return (int)msgrcv(messages, &message, sizeof message.text, 1, 0);
}

static int wait_ring(void) {
    struct io_uring_params parameters = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
    if (ring < 0) // forbidden
        return pause();
    return (int)syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 8);
}

static int wait_io(void) {
    aio_context_t context = 0;
    struct io_event event;
    if (syscall(SYS_io_setup, 1, &context) < 0)
        return pause();
    return (int)syscall(SYS_io_pgetevents, context, 1, 1, &event, NULL, NULL);
}

static int wait_io_for_long(void) {
    aio_context_t context = 0;
    struct timespec time = {1000, 0};
    struct io_event event;
    if (syscall(SYS_io_setup, 1, &context) < 0)
        return pause();
    return (int)syscall(SYS_io_getevents, context, 1, 1, &event, &time);
}

// Of a pair, with time limits.
static int limited_socket(void) {
    struct timeval limit = {1000, 0};
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
        return -1;
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(sockets[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return sockets[0];
}

static int wait_recv(void) {
    char byte;
    return (int)recv(limited_socket(), &byte, 1, 0);
}

static int wait_recvfrom(void) {
    char byte;
    return (int)recvfrom(limited_socket(), &byte, 1, 0, NULL, NULL);
}

static int wait_read(void) {
    char byte;
    return (int)read(limited_socket(), &byte, 1);
}

static int wait_send(void) {
    static char bytes[4096];
    int socket = limited_socket();
    while (send(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
    return (int)send(socket, bytes, sizeof bytes, 0);
}

static int wait_accept(void) {
    struct timeval limit = {1000, 0};
    struct sockaddr_un unnamed = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&unnamed, sizeof unnamed.sun_family);
    listen(listener, 1);
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return accept(listener, NULL, NULL);
}

static const struct wait {
    const char *name;
    int (*function)(void);
} waits[] = {
    {"poll", wait_poll},
    {"poll for long", wait_poll_for_long},
    {"ppoll", wait_ppoll},
    {"epoll_wait", wait_epoll},
    {"epoll_wait by number", wait_epoll_number},
    {"select", wait_select},
    {"pselect", wait_pselect},
    {"pause", wait_pause},
    {"sigsuspend", wait_suspended},
    {"sigwaitinfo", wait_signal},
    {"sleep", wait_sleep},
    {"nanosleep", wait_nanosleep},
    {"nanosleep elsewhere", wait_nanosleep_elsewhere},
    {"usleep", wait_usleep},
    {"clock_nanosleep", wait_clock},
    {"sem_timedwait", wait_semaphore},
    {"semop", wait_old_semaphore},
    {"msgrcv", wait_message},
    {"io_uring_enter", wait_ring},
    {"io_pgetevents", wait_io},
    {"recv", wait_recv},
    {"recvfrom", wait_recvfrom},
    {"read", wait_read},
    {"send", wait_send},
    {"accept", wait_accept},
    {"epoll_wait for long", wait_epoll_for_long},
    {"epoll_pwait for long", wait_epoll_masked},
    {"epoll_pwait2 for long", wait_epoll_precisely},
    {"sigtimedwait", wait_signal_for_long},
    {"semtimedop", wait_old_semaphore_for_long},
    {"FUTEX_WAIT by number", wait_futex_number},
    {"io_getevents for long", wait_io_for_long},
};

enum { WAITS = sizeof waits / sizeof *waits };

// The last ones have a time limit of which the kernel keeps no rest.
enum { NO_REST = 7 };
static int count_of_waits = WAITS;

static volatile pid_t tids[WAITS];

static void on_signal(int signal) {
    (void)signal;
}

static void *wait_in(void *argument) {
    const struct wait *wait = argument;
    /* These two let signals through while they wait only. */
    if (wait->function == wait_suspended || wait->function == wait_pselect)
        pthread_sigmask(SIG_BLOCK, &used, NULL);
    tids[wait - waits] = gettid();
    int result = wait->function();
    if (result != -1 || errno != EINTR)
        printf("%s returned %d, %s\n", wait->name, result, strerror(errno));
    else if (!is_over)
        printf("%s was interrupted\n", wait->name);
    return NULL;
}

// Of those of sched(5) that wait.
static int is_asleep(pid_t tid) {
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *file = fopen(path, "r");
    char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (file)
        fclose(file);
    return end && end[2] == 'S';
}

static volatile unsigned long rounds;

static void *count(void *argument) {
    while (!is_over)
        rounds++;
    return argument;
}

static void signal_waiting(const pthread_t *threads) {
    is_over = 1;
    for (int i = 0; i < count_of_waits; i++)
        pthread_kill(threads[i], SIGUSR1);
}

// It holds back all signals, also those of the C library, so that it goes on while the others stand
// still: then nobody counts.
static void *signal_in_between(void *threads) {
    unsigned long all = ~0ul;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all);
    unsigned long before = rounds;
    for (int still = 0; still < 40 && !is_over; still++) {
        if (before != rounds)
            still = 0;
        before = rounds;
        struct timespec time = {0, 1000};
        nanosleep(&time, NULL);
    }
    signal_waiting(threads);
    return NULL;
}

// Neither on its way to the thread nor in a handler.
static int is_through(pid_t tid, int signal) {
    char path[64], line[256];
    unsigned long set, all = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "SigPnd: %lx", &set) == 1 || sscanf(line, "SigBlk: %lx", &set) == 1)
            all |= set;
    if (file)
        fclose(file);
    return !(all >> (signal - 1) & 1);
}

static void ask_each(void) {
    enum { REQUEST = 63, STANDS_STILL = 33 };
    unsigned long action[4] = {0}; // asked of the kernel: the recorder hides its handler
    if (syscall(SYS_rt_sigaction, REQUEST, NULL, action, 8) < 0 || action[0] == 0) // not recorded
        return;
    for (int i = 0; i < count_of_waits; i++) {
        syscall(SYS_tgkill, getpid(), tids[i], REQUEST);
        while (!is_through(tids[i], REQUEST))
            sched_yield();
    }
    // Who has stood still for another one's may be on the way back, where a signal of the program
    // would be too early to end the wait.
    for (int i = 0; i < count_of_waits; i++)
        while (!is_through(tids[i], REQUEST) || !is_through(tids[i], STANDS_STILL) ||
               !is_asleep(tids[i]))
            sched_yield();
}

// The main thread waits as well.
static void run(const char *command) {
    int ends[2];
    pipe(ends);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(system(command) == 0 ? 0 : 1);
    }
    close(ends[1]);
    struct pollfd polled = {.fd = ends[0], .events = POLLIN};
    if (poll(&polled, 1, 1000000) != 1)
        printf("main was interrupted: %s\n", strerror(errno));
    close(ends[0]);
}

int main(int argc, char **argv) {
    static pthread_t threads[WAITS];
    struct sigaction action = {.sa_handler = on_signal};
    if (strcmp(argv[1], "attached") == 0)
        count_of_waits -= NO_REST;
    char pid[20];
    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("MARKED_PID", pid, 1);
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&none);
    sigemptyset(&unused);
    sigaddset(&unused, SIGUSR2);
    sigemptyset(&used);
    sigaddset(&used, SIGUSR1);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    messages = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    sem_init(&semaphore, 0, 0);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    for (int i = 0; i < count_of_waits; i++)
        pthread_create(&threads[i], &small, wait_in, (void *)&waits[i]);
    for (int i = 0; i < count_of_waits; i++)
        while (tids[i] == 0 || !is_asleep(tids[i]))
            sched_yield();
    int signals = strcmp(argv[1], "signals") == 0;
    pthread_t counting, signalling;
    if (signals) {
        pthread_create(&counting, NULL, count, NULL);
        pthread_create(&signalling, NULL, signal_in_between, threads);
    }
    if (strcmp(argv[1], "each") == 0)
        ask_each();
    for (int i = 2; i < argc; i++)
        run(argv[i]);
    if (signals) {
        is_over = 1;
        pthread_join(signalling, NULL);
        pthread_join(counting, NULL);
    } else {
        signal_waiting(threads);
    }
    for (int i = 0; i < count_of_waits; i++)
        pthread_join(threads[i], NULL);
    msgctl(messages, IPC_RMID, NULL);
    semctl(semaphores, 0, IPC_RMID);
    printf("%d threads have waited\n", count_of_waits);
    return 5;
}
