/* See noted_wait.h. */
#define _GNU_SOURCE
#include "snapshot/noted_wait.h"

#if defined(__x86_64__)

#    include "base/foreign_thread.h"
#    include "base/newer_calls.h"
#    include "snapshot/call_number.h"
#    include "trace/trace_file.h"

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

/* How far below its caller a function of the C library makes its call: 2.41 has three functions for
 * it. */
enum { REACH = 1024 };

enum { NOTED = sizeof mt_tls.wait.arguments / sizeof *mt_tls.wait.arguments };

/* The argument of a call that limits its time. */
struct limit {
    int index; /* -1: none that is known */
    bool is_milliseconds;
};

static struct limit limit_of(const struct mt_call *call) {
    switch (call->number) {
    case SYS_poll:
        return (struct limit){2, true};
    case SYS_nanosleep:
        return (struct limit){0, false};
    case SYS_clock_nanosleep:
        return (struct limit){call->arguments[1] & TIMER_ABSTIME ? -1 : 2, false};
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return (struct limit){3, true};
    case SYS_epoll_pwait2:
    case SYS_semtimedop:
        return (struct limit){3, false};
    case SYS_rt_sigtimedwait:
        return (struct limit){2, false};
    case SYS_io_getevents:
    case SYS_io_pgetevents:
        return (struct limit){4, false};
    case SYS_futex:
        return (struct limit){
            (call->arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT && call->arguments[3] ? 3 : -1,
            false};
    default:
        return (struct limit){-1, false};
    }
}

const struct mt_noted_wait *mt_noted_wait_last(void) {
    static const struct mt_noted_wait none;
    return mt_thread_is_foreign() ? &none : &mt_tls.wait;
}

/* By the first arguments. Halves of them, since what is above an int is undefined; and of time
 * limits those that are known. */
static bool is_noted(const struct mt_call *call, int limit) {
    const struct mt_noted_wait *noted = mt_noted_wait_last();
    if (noted->number != call->number || noted->ticks == 0 || noted->sp - call->sp > REACH)
        return false;
    for (int i = 0; i < NOTED && i <= limit; i++)
        if ((uint32_t)noted->arguments[i] != (uint32_t)call->arguments[i] &&
            (i < limit || noted->arguments[i] != 0))
            return false;
    return true;
}

/* What the kernel has read when the call began. */
static uint64_t limit_ns(const struct limit *limit, uint64_t argument) {
    if (limit->is_milliseconds)
        return (uint64_t)(uint32_t)argument * NS_PER_MS;
    const struct timespec *time = (const struct timespec *)argument;
    if (time->tv_sec > UINT32_MAX)
        return UINT64_MAX;
    return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

/* By the rate at which the counter has run since the trace began. */
static uint64_t ns_since(uint64_t ticks) {
    const struct mt_file_header *header = mt_trace_file.header;
    uint64_t now = mt_clock_after();
    uint64_t ns = mt_os_time_ns(CLOCK_MONOTONIC) - header->start_mono_ns;
    uint64_t all = now - header->start_ticks;
    return all ? (uint64_t)((unsigned __int128)(now - ticks) * ns / all) : 0;
}

bool mt_noted_wait_is(const struct mt_call *call) {
    int limit = limit_of(call).index;
    return limit >= 0 && mt_trace_file.header && is_noted(call, limit);
}

bool mt_noted_wait_shorten(const struct mt_call *call, void *context) {
    struct mt_noted_wait *noted = &mt_tls.wait;
    struct limit limit = limit_of(call);
    if (!mt_noted_wait_is(call))
        return false;
    if (!noted->is_shortened)
        noted->limit_ns = limit_ns(&limit, call->arguments[limit.index]);
    noted->is_shortened = true;
    uint64_t passed = ns_since(noted->ticks);
    uint64_t rest = noted->limit_ns > passed ? noted->limit_ns - passed : 0;
    noted->rest = (struct timespec){(time_t)(rest / NS_PER_S), (long)(rest % NS_PER_S)};
    uint64_t argument =
        limit.is_milliseconds ? (rest + NS_PER_MS - 1) / NS_PER_MS : (uintptr_t)&noted->rest;
    mt_call_set_argument(context, limit.index, argument);
    if (limit.index < NOTED)
        noted->arguments[limit.index] = argument;
    return true;
}

#else

bool mt_noted_wait_is(const struct mt_call *call) {
    (void)call;
    return false;
}

bool mt_noted_wait_shorten(const struct mt_call *call, void *context) {
    (void)call, (void)context;
    return false;
}

#endif
