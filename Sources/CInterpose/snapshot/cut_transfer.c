/* See cut_transfer.h. */
#define _GNU_SOURCE
#include "snapshot/cut_transfer.h"

#if defined(__x86_64__)

#    include "base/os_threads.h"
#    include "snapshot/park.h"
#    include "snapshot/snapshot_signals.h"
#    include "snapshot/wait_on.h"
#    include "snapshot/wait_socket.h"
#    include <errno.h>
#    include <poll.h>
#    include <signal.h>
#    include <string.h>
#    include <sys/auxv.h>
#    include <sys/socket.h>
#    include <sys/syscall.h>
#    include <sys/uio.h>
#    include <ucontext.h>

enum { NO_FILE = -1 };

enum kind {
    WRITES,
    READS_ALL,   /* waits for all that it was asked for */
    READS_DEVICE /* a device that has as much as one likes, or no file but getrandom(2) */
};

struct transfer {
    enum kind kind;
    int file, flags;
    const struct iovec *parts;
    size_t count;
    struct iovec whole; /* the only part, where the call has none */
};

/* What a call moves: that of one area, or of several.
 * returns  false for other calls */
static bool read_parts(struct transfer *transfer, const struct mt_call *call) {
    const uint64_t *arguments = call->arguments;
    const struct msghdr *message = (const struct msghdr *)arguments[1];
    *transfer = (struct transfer){.kind = WRITES, .file = (int)arguments[0], .count = 1};
    transfer->whole = (struct iovec){(void *)arguments[1], arguments[2]};
    transfer->parts = &transfer->whole;
    switch (call->number) {
    case SYS_write:
        return true;
    case SYS_read:
        transfer->kind = READS_DEVICE;
        return true;
    case SYS_getrandom:
        transfer->kind = READS_DEVICE;
        transfer->file = NO_FILE;
        transfer->whole = (struct iovec){(void *)arguments[0], arguments[1]};
        return true;
    case SYS_sendto:
        transfer->flags = (int)arguments[3];
        return true;
    case SYS_recvfrom:
        transfer->kind = READS_ALL;
        transfer->flags = (int)arguments[3];
        return (transfer->flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL;
    case SYS_writev:
        transfer->parts = (const struct iovec *)arguments[1];
        transfer->count = arguments[2];
        return true;
    case SYS_sendmsg:
        transfer->flags = (int)arguments[2];
        transfer->parts = message->msg_iov;
        transfer->count = message->msg_iovlen;
        return true;
    default:
        return false;
    }
}

/* Where the rest begins that is still to be moved, as far as its part goes; of length 0 when all is
 * done. */
static struct iovec rest_behind(const struct transfer *transfer, uint64_t done) {
    for (size_t i = 0; i < transfer->count; i++) {
        struct iovec part = transfer->parts[i];
        if (done < part.iov_len)
            return (struct iovec){(char *)part.iov_base + done, part.iov_len - done};
        done -= part.iov_len;
    }
    return (struct iovec){NULL, 0};
}

/* Nobody else's calls come short, but those that may not wait, or not for long. */
static bool waits_for_all(const struct transfer *transfer) {
    if (transfer->kind == READS_DEVICE)
        return transfer->file == NO_FILE || mt_os_is_endless_device(transfer->file);
    if ((transfer->flags & MSG_DONTWAIT) || mt_os_may_not_wait(transfer->file))
        return false;
    if (mt_os_is_pipe(transfer->file))
        return true;
    struct timespec limit;
    int option = transfer->kind == WRITES ? SO_SNDTIMEO : SO_RCVTIMEO;
    return mt_os_is_stream_socket(transfer->file) &&
           !mt_os_socket_limit(transfer->file, option, &limit);
}

/* returns  what was moved already; 0: it is no such call */
static uint64_t read_cut(struct transfer *transfer, const void *context,
                         const struct mt_call *seen) {
    int64_t done = ((const ucontext_t *)context)->uc_mcontext.gregs[REG_RAX];
    struct mt_call call;
    if (done <= 0 || !mt_call_read(&call, context, seen) || !read_parts(transfer, &call) ||
        rest_behind(transfer, (uint64_t)done).iov_len == 0 || !waits_for_all(transfer))
        return 0;
    return (uint64_t)done;
}

/* So much as there is room for where poll(2) says that there is some, or something to read. */
static long move(const struct transfer *transfer, struct iovec rest) {
    enum { MOST = 1 << 20 };
    int flags = transfer->flags | MSG_DONTWAIT | MSG_NOSIGNAL;
    if (transfer->file == NO_FILE)
        return mt_os_random(rest.iov_base, rest.iov_len < MOST ? rest.iov_len : MOST);
    if (transfer->kind == READS_DEVICE)
        return mt_os_read(transfer->file, rest.iov_base, rest.iov_len < MOST ? rest.iov_len : MOST);
    if (transfer->kind == READS_ALL)
        return mt_os_receive(transfer->file, rest.iov_base, rest.iov_len, flags);
    if (!mt_os_is_pipe(transfer->file))
        return mt_os_send(transfer->file, rest.iov_base, rest.iov_len, flags);
    enum { ROOM = 4096 }; /* PIPE_BUF */
    return mt_os_write(transfer->file, rest.iov_base, rest.iov_len < ROOM ? rest.iov_len : ROOM);
}

/* Whether what is left of a signal stack is enough for a handler of ours that comes meanwhile. */
static bool has_room_for_ours(const void *context) {
    enum { LARGE_FRAME = 4096, OWN = 2048 };
    const stack_t *stack = &((const ucontext_t *)context)->uc_stack;
    uintptr_t room = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)stack->ss_sp;
    unsigned long frame = getauxval(AT_MINSIGSTKSZ); /* 0 before Linux 5.14 */
    return room >= (frame ? frame : LARGE_FRAME) + OWN;
}

/* Whether the program would not notice a signal that is let through. While it is held back, the
 * kernel keeps also what it would have thrown away. */
static bool does_nothing(int signal) {
    struct mt_os_action action;
    if (mt_os_action(signal, NULL, &action) < 0)
        return false;
    bool is_harmless =
        signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
    return action.handler == MT_SIGNAL_IGNORED || (action.handler == NULL && is_harmless);
}

/* Whether one has come that ends the call, or the process. */
static bool is_interrupted(uint64_t held_back) {
    enum { LAST_SIGNAL = 64 };
    uint64_t ours = mt_park_signals() | mt_snapshot_signals_requests();
    uint64_t coming = mt_os_pending_signals() & ~held_back & ~ours;
    for (int signal = 1; coming != 0 && signal <= LAST_SIGNAL; signal++)
        if (coming >> (signal - 1) & 1 && !does_nothing(signal))
            return true;
    return false;
}

/* Waits on a signal stack. A handler of the program's may have counted on all of it, so that it is
 * looked from time to time whether one is to run. The one in which threads stand still may come; a
 * request for a snapshot takes more of the stack, and waits. */
static long poll_on_signal_stack(struct pollfd *file, uint64_t held_back) {
    enum { LOOK_NS = 20000000 };
    uint64_t all_but_park = ~mt_park_signals();
    long ready = 0;
    while (ready == 0 || ready == -EINTR) {
        if (is_interrupted(held_back))
            return -EINTR;
        struct timespec limit = {.tv_nsec = LOOK_NS};
        ready = mt_wait_socket_poll(file, 1, &limit, &all_but_park);
    }
    return ready;
}

/* Waits until something can be moved.
 * returns  false when a signal has come, or nothing can be any more */
static bool await(const struct transfer *transfer, uint64_t held_back, bool is_on_signal_stack) {
    short event = transfer->kind == WRITES ? POLLOUT : POLLIN;
    struct pollfd file = {.fd = transfer->file, .events = event};
    if (transfer->kind == READS_DEVICE)
        return true;
    long ready = is_on_signal_stack ? poll_on_signal_stack(&file, held_back)
                                    : mt_wait_socket_poll(&file, 1, NULL, &held_back);
    return ready > 0 && !(file.revents & (POLLERR | POLLNVAL));
}

bool mt_cut_transfer_is(const void *context, const struct mt_call *seen) {
    struct transfer transfer;
    return read_cut(&transfer, context, seen) != 0;
}

bool mt_cut_transfer_finish(void *context, const struct mt_call *seen) {
    ucontext_t *interrupted = context;
    struct transfer transfer;
    uint64_t held_back, done = read_cut(&transfer, context, seen);
    bool is_on_signal_stack = mt_wait_on_has_no_room(context);
    if (done == 0 || (is_on_signal_stack && !has_room_for_ours(context)))
        return done != 0;
    memcpy(&held_back, &interrupted->uc_sigmask, sizeof held_back);
    for (struct iovec rest; (rest = rest_behind(&transfer, done)).iov_len != 0;) {
        if (!await(&transfer, held_back, is_on_signal_stack))
            break;
        long moved = move(&transfer, rest);
        if (moved <= 0 && moved != -EAGAIN && moved != -EINTR)
            break;
        done += moved > 0 ? (uint64_t)moved : 0;
    }
    interrupted->uc_mcontext.gregs[REG_RAX] = (greg_t)done;
    return true;
}

#else

bool mt_cut_transfer_is(const void *context, const struct mt_call *seen) {
    (void)context, (void)seen;
    return false;
}

bool mt_cut_transfer_finish(void *context, const struct mt_call *seen) {
    (void)context, (void)seen;
    return false;
}

#endif
