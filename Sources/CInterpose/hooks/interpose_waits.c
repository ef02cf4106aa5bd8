/* Calls with a time limit that fail with EINTR where a snapshot interrupts them: noted, so that
 * they can go on for what is left (noted_wait.h), and passed on by a jump. Some are cancellation
 * points, and may be left without a return. */
#define _GNU_SOURCE
#include "events/hook.h"

#include "base/newer_calls.h"
#include "snapshot/noted_wait.h"
#include <signal.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/syscall.h>

#ifndef SYS_epoll_wait
#    define SYS_epoll_wait SYS_epoll_pwait
#endif

/* Since glibc 2.35. */
int epoll_pwait2(int epoll, struct epoll_event *events, int room, const struct timespec *limit,
                 const sigset_t *held_back);

/* X(name, number, parameters, arguments): all return an int, -1 for failure. */
#define MT_FOR_EACH_WAIT(X)                                                                        \
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
