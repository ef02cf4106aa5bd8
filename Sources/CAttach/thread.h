/* Stops of a traced thread. */
#ifndef CATTACH_THREAD_H
#define CATTACH_THREAD_H

#include <stdbool.h>
#include <sys/types.h>

/* Why a thread has stopped. */
enum stop_kind {
    STOP_NONE,        /* it has not, in time */
    STOP_ENDED,       /* it is no more */
    STOP_ASKED,       /* by us, or with the whole process */
    STOP_SYSTEM_CALL, /* it enters or leaves one */
    STOP_SIGNAL
};

struct stop {
    enum stop_kind kind;
    int signal; /* of a STOP_SIGNAL */
};

/* Waits until the thread stops, for at most so long. */
struct stop thread_wait(pid_t tid, int milliseconds);

/* Lets it run until it stops by itself; with until_system_call, at the next one.
 *
 * signal   that it gets; 0: none
 * returns  0, or the system's error number */
int thread_continue(pid_t tid, bool until_system_call, int signal);

#endif
