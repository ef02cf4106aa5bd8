/* Calls with a time limit that a snapshot interrupts: noted, so that they can go on for what is
 * left (noted_wait.h), and passed on by a jump. Some are cancellation points, and may be left
 * without a return. */
#define _GNU_SOURCE
#include "events/hook.h"

#include "base/newer_calls.h"
#include "snapshot/noted_wait.h"
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_poll
#    define SYS_poll SYS_ppoll
#endif

#ifndef SYS_epoll_wait
#    define SYS_epoll_wait SYS_epoll_pwait
#endif

/* Since glibc 2.35. */
int epoll_pwait2(int epoll, struct epoll_event *events, int room, const struct timespec *limit,
                 const sigset_t *held_back);

/* What programs call that were built to be checked (_FORTIFY_SOURCE). */
int __poll_chk(struct pollfd *files, nfds_t count, int limit, size_t size);

/* X(name, number, parameters, arguments): all return an int, -1 for failure. */
#define MT_FOR_EACH_WAIT(X)                                                                        \
    X(poll, SYS_poll, (struct pollfd * first, nfds_t second, int third), (first, second, third))   \
    X(__poll_chk, SYS_poll, (struct pollfd * first, nfds_t second, int third, size_t size),        \
      (first, second, third, size))                                                                \
    X(epoll_wait, SYS_epoll_wait, (int first, struct epoll_event *second, int third, int limit),   \
      (first, second, third, limit))                                                               \
    X(epoll_pwait, SYS_epoll_pwait,                                                                \
      (int first, struct epoll_event *second, int third, int limit, const sigset_t *held_back),    \
      (first, second, third, limit, held_back))                                                    \
    X(epoll_pwait2, SYS_epoll_pwait2,                                                              \
      (int first, struct epoll_event *second, int third, const struct timespec *limit,             \
       const sigset_t *held_back),                                                                 \
      (first, second, third, limit, held_back))                                                    \
    X(sigtimedwait, SYS_rt_sigtimedwait,                                                           \
      (const sigset_t *first, siginfo_t *second, const struct timespec *third),                    \
      (first, second, third))                                                                      \
    X(semtimedop, SYS_semtimedop,                                                                  \
      (int first, struct sembuf *second, size_t third, const struct timespec *limit),              \
      (first, second, third, limit))

#define MT_WAIT_HOOK(name, number, parameters, arguments)                                          \
    int MT_HOOK_NAME(name) parameters;                                                             \
    MT_HOOK int MT_HOOK_NAME(name) parameters {                                                    \
        if (MT_REAL_IS_MISSING(name)) {                                                            \
            errno = ENOSYS;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        mt_noted_wait_begin(number, MT_CALLER_FRAME().sp, (uintptr_t)first, (uintptr_t)second,     \
                            (uintptr_t)third);                                                     \
        MT_TAIL_CALL mt_real.name arguments;                                                       \
    }

MT_FOR_EACH_WAIT(MT_WAIT_HOOK)

/* The C library makes the same call of all sleeps.
 *
 * X(name, failure, clock, flags, request, parameters, arguments) */
#define MT_FOR_EACH_SLEEP(X)                                                                       \
    X(nanosleep, -1, CLOCK_REALTIME, 0, (uintptr_t)request,                                        \
      (const struct timespec *request, struct timespec *rest), (request, rest))                    \
    X(clock_nanosleep, ENOSYS, (uintptr_t)clock, (uintptr_t)flags, (uintptr_t)request,             \
      (clockid_t clock, int flags, const struct timespec *request, struct timespec *rest),         \
      (clock, flags, request, rest))                                                               \
    X(usleep, -1, CLOCK_REALTIME, 0, 0, (useconds_t microseconds), (microseconds))                 \
    X(thrd_sleep, -1, CLOCK_REALTIME, 0, (uintptr_t)request,                                       \
      (const struct timespec *request, struct timespec *rest), (request, rest))

#define MT_SLEEP_HOOK(name, failure, clock_, flags_, request_, parameters, arguments)              \
    int MT_HOOK_NAME(name) parameters;                                                             \
    MT_HOOK int MT_HOOK_NAME(name) parameters {                                                    \
        if (MT_REAL_IS_MISSING(name)) {                                                            \
            errno = ENOSYS;                                                                        \
            return failure;                                                                        \
        }                                                                                          \
        mt_noted_wait_begin(SYS_clock_nanosleep, MT_CALLER_FRAME().sp, clock_, flags_, request_);  \
        MT_TAIL_CALL mt_real.name arguments;                                                       \
    }

MT_FOR_EACH_SLEEP(MT_SLEEP_HOOK)
