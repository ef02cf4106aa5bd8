/* See wait_socket.h. */
#define _GNU_SOURCE
#include "snapshot/wait_socket.h"

#if defined(__x86_64__)

#    include "base/os_threads.h"
#    include "snapshot/wait_on.h"
#    include <errno.h>
#    include <netinet/in.h>
#    include <poll.h>
#    include <string.h>
#    include <sys/socket.h>
#    include <sys/syscall.h>
#    include <time.h>
#    include <ucontext.h>

/* In assembly, so that the number stands where call_number.c looks for it when a further snapshot
 * interrupts this. */
__asm__(".text\n"
        ".globl mt_wait_socket_poll\n"
        ".hidden mt_wait_socket_poll\n"
        ".type mt_wait_socket_poll, @function\n"
        "mt_wait_socket_poll:\n"
        "    .cfi_startproc\n"
        "    movq %rcx, %r10\n"
        "    movl $8, %r8d\n"
        "    movl $271, %eax\n" /* ppoll */
        "    syscall\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size mt_wait_socket_poll, . - mt_wait_socket_poll\n");

/* What a call on a socket waits for. */
struct wait {
    int option; /* of the limit; 0: it is no such call */
    short event;
    int error; /* when the time is over */
};

static struct wait wait_of(uint32_t number) {
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
        return (struct wait){SO_RCVTIMEO, POLLIN, EAGAIN};
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
        return (struct wait){SO_SNDTIMEO, POLLOUT, EAGAIN};
    case SYS_connect:
        return (struct wait){SO_SNDTIMEO, POLLOUT, EINPROGRESS};
    default:
        return (struct wait){0, 0, 0};
    }
}

/* A second connect(2) of a TCP socket tells what has become of the first; that of others would
 * begin another one, or fail. */
static bool may_not_begin_anew(const struct mt_call *call, int socket) {
    return call->number == SYS_connect && mt_os_socket_protocol(socket) != IPPROTO_TCP;
}

bool mt_wait_socket(const struct mt_call *call, void *context) {
    ucontext_t *interrupted = context;
    struct wait wait = wait_of(call->number);
    struct timespec limit;
    int socket = (int)call->arguments[0];
    uint64_t held_back;
    if (!wait.option || !mt_os_socket_limit(socket, wait.option, &limit) ||
        may_not_begin_anew(call, socket) || mt_wait_on_has_no_room(context))
        return false;
    memcpy(&held_back, &interrupted->uc_sigmask, sizeof held_back);
    struct pollfd file = {.fd = socket, .events = wait.event};
    long ready = mt_wait_socket_poll(&file, 1, &limit, &held_back);
    if (ready <= 0)
        interrupted->uc_mcontext.gregs[REG_RAX] = ready == 0 ? -wait.error : -EINTR;
    return ready > 0;
}

#else

bool mt_wait_socket(const struct mt_call *call, void *context) {
    (void)call, (void)context;
    return false;
}

#endif
