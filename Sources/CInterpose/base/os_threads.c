/* See os_threads.h. */
#define _GNU_SOURCE
#include "base/os_threads.h"

#include "base/os_call.h"
#include "base/own_memory.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#if defined(__x86_64__)
/* The kernel of x86_64 has none of its own: where a handler returns to. */
void mt_os_return_from_signal(void) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".globl mt_os_return_from_signal\n"
        ".hidden mt_os_return_from_signal\n"
        ".type mt_os_return_from_signal, @function\n"
        "    nop\n"
        "mt_os_return_from_signal:\n"
        "    movq $15, %rax\n" /* rt_sigreturn */
        "    syscall\n"
        ".size mt_os_return_from_signal, . - mt_os_return_from_signal\n");
#endif

long mt_os_action(int signal, const struct mt_os_action *action, struct mt_os_action *before) {
    return CALL(SYS_rt_sigaction, signal, action, before, sizeof(uint64_t), 0, 0);
}

struct mt_os_action mt_os_handler(void (*handler)(int, siginfo_t *, void *)) {
    struct mt_os_action action = {
        .handler = handler, .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK, .mask = UINT64_MAX};
#if defined(__x86_64__)
    action.flags |= 0x04000000; /* SA_RESTORER */
    action.restorer = mt_os_return_from_signal;
#endif
    return action;
}

long mt_os_set_signal_stack(struct mt_signal_stack stack) {
    stack_t request = {.ss_sp = (void *)(uintptr_t)stack.start,
                       .ss_size = stack.size,
                       .ss_flags = stack.size == 0 ? SS_DISABLE : 0};
    return CALL(SYS_sigaltstack, &request, 0, 0, 0, 0, 0);
}

long mt_os_queue_signal(int tid, int signal, void *value) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = (pid_t)mt_os_pid();
    info.si_uid = (uid_t)mt_os_uid();
    info.si_value.sival_ptr = value;
    return CALL(SYS_rt_tgsigqueueinfo, info.si_pid, tid, signal, &info, 0, 0);
}

bool mt_os_has_thread(int tid) {
    return mt_os_queue_signal(tid, 0, NULL) != -ESRCH;
}

uint64_t mt_os_pending_signals(void) {
    uint64_t pending = 0;
    CALL(SYS_rt_sigpending, &pending, sizeof pending, 0, 0, 0, 0);
    return pending;
}

void mt_os_signal_thread(int signal) {
    CALL(SYS_tgkill, mt_os_pid(), mt_os_tid(), signal, 0, 0, 0);
}

long mt_os_signal_thread_again(int signal, const siginfo_t *info) {
    return CALL(SYS_rt_tgsigqueueinfo, mt_os_pid(), mt_os_tid(), signal, info, 0, 0);
}

/* What the kernel says of others' signals may be said to nobody else. */
void mt_os_pass_signal(int tid, int signal, const siginfo_t *info) {
    if (CALL(SYS_rt_tgsigqueueinfo, mt_os_pid(), tid, signal, info, 0, 0) < 0)
        CALL(SYS_tgkill, mt_os_pid(), tid, signal, 0, 0, 0);
}

static int g_timer;

long mt_os_start_timer(int signal, uint64_t seconds) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal;
    long error = CALL(SYS_timer_create, CLOCK_MONOTONIC, &event, &g_timer, 0, 0, 0);
    if (error < 0)
        return error;
    struct itimerspec every = {{(time_t)seconds, 0}, {(time_t)seconds, 0}};
    return CALL(SYS_timer_settime, g_timer, 0, &every, NULL, 0, 0);
}

void mt_os_stop_timer(void) {
    CALL(SYS_timer_delete, g_timer, 0, 0, 0, 0, 0);
}

long mt_os_directory_entries(int fd, void *buffer, size_t size) {
    return CALL(SYS_getdents64, fd, buffer, size, 0, 0, 0);
}

long mt_os_close_range(unsigned first, unsigned last) {
    enum { CLOSE_RANGE = 436 }; /* newer than some C libraries' headers */
    return CALL(CLOSE_RANGE, first, last, 0, 0, 0, 0);
}

long mt_os_copy_process(void) {
    return CALL(SYS_clone, 0, 0, 0, 0, 0, 0);
}

/* Since Linux 4.12. The kernel names no namespace without a process, and none of a thread that has
 * ended, as the first one of the process may have: /proc/self is that one. */
bool mt_os_child_begins_namespace(void) {
    char name[64];
    return mt_os_readlink("/proc/thread-self/ns/pid_for_children", name, sizeof name) == -ENOENT &&
           mt_os_readlink("/proc/thread-self/ns/pid", name, sizeof name) > 0;
}

bool mt_os_reap(long pid) {
    int status;
    return CALL(SYS_wait4, pid, &status, WNOHANG | __WALL, 0, 0, 0) != 0;
}

void mt_os_kill(long pid) {
    CALL(SYS_kill, pid, SIGKILL, 0, 0, 0, 0);
}

void mt_os_futex_wait_for(uint32_t *word, uint32_t expected, uint64_t nanoseconds) {
    struct timespec time = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    CALL(SYS_futex, word, FUTEX_WAIT, expected, &time, 0, 0);
}

void mt_os_futex_wake_shared(uint32_t *word) {
    CALL(SYS_futex, word, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
}

bool mt_os_socket_limit(int socket, int option, struct timespec *limit) {
    struct timeval time = {0, 0};
    socklen_t size = sizeof time;
    if (CALL(SYS_getsockopt, socket, SOL_SOCKET, option, &time, &size, 0) < 0)
        return false;
    *limit = (struct timespec){time.tv_sec, time.tv_usec * 1000};
    return time.tv_sec != 0 || time.tv_usec != 0;
}

bool mt_os_is_stream_socket(int socket) {
    int kind = 0;
    socklen_t size = sizeof kind;
    return CALL(SYS_getsockopt, socket, SOL_SOCKET, SO_TYPE, &kind, &size, 0) >= 0 &&
           kind == SOCK_STREAM;
}

bool mt_os_may_not_wait(int fd) {
    long flags = CALL(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
    return flags < 0 || (flags & O_NONBLOCK) != 0;
}

bool mt_os_is_endless_device(int fd) {
    /* Documentation/admin-guide/devices.txt */
    enum { MEMORY = 1, ZERO = 5, FULL = 7, URANDOM = 9 };
    struct stat status;
    if (CALL(SYS_newfstatat, fd, "", &status, AT_EMPTY_PATH, 0, 0) < 0 ||
        !S_ISCHR(status.st_mode) || major(status.st_rdev) != MEMORY)
        return false;
    unsigned kind = minor(status.st_rdev);
    return kind == ZERO || kind == FULL || kind == URANDOM;
}

long mt_os_send(int socket, const void *bytes, size_t length, int flags) {
    return CALL(SYS_sendto, socket, bytes, length, flags, 0, 0);
}

long mt_os_receive(int socket, void *bytes, size_t length, int flags) {
    return CALL(SYS_recvfrom, socket, bytes, length, flags, 0, 0);
}

long mt_os_socket_protocol(int socket) {
    int protocol = 0;
    socklen_t size = sizeof protocol;
    long error = CALL(SYS_getsockopt, socket, SOL_SOCKET, SO_PROTOCOL, &protocol, &size, 0);
    return error < 0 ? error : protocol;
}

void *mt_os_map_shared(size_t length) {
    long result =
        CALL(SYS_mmap, 0, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (result < 0 && result >= -4095)
        return NULL;
    mt_os_unlock_pages((void *)result, length);
    mt_own_memory_add((void *)result, length, MT_OWN_PAGES);
    return (void *)result;
}

long mt_os_resident(uintptr_t address, size_t length, unsigned char *pages) {
    return CALL(SYS_mincore, address, length, pages, 0, 0, 0);
}
