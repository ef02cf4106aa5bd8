/* Lets the other threads of the process stand still for a moment, and reads their registers.
 *
 * By a signal whose handler is there for that moment only: no ptrace, which containers forbid, no
 * thread of ours. A thread that holds the signal back, or does not leave the kernel in time, goes
 * on; its state says so.
 *
 * Whoever holds a lock of the recorder has signals held back (lock.h): a parked thread holds none.
 * It may hold any lock of the host: nothing that may take one (libc, the loader) is called before
 * they go on. System calls that were interrupted are resumed, by the kernel (SA_RESTART) or by us
 * (resume.h, which says what remains and fails with EINTR). */
#ifndef MT_PARK_H
#define MT_PARK_H

#include "base/os.h"
#include "base/registers.h"
#include "memtrace_snapshot.h"
#include "snapshot/call_number.h"

struct mt_parked_thread {
    uint32_t tid;
    uint32_t state;   /* see park.c; a futex */
    uint32_t index;   /* of the recorder; 0: not met yet */
    uint64_t blocked; /* signals it held back when it was listed: bit n - 1 for signal n */
    uint64_t used_ns; /* of the processor, when it was first asked while it ran; 0: was not */
    uint64_t tls_base;
    struct mt_call call; /* what it waited in when it was listed */
    struct mt_registers registers;
};

struct mt_park {
    struct mt_parked_thread *threads; /* without the calling one */
    size_t count;
};

/* Parks all other threads.
 *
 * is_end   no thread of the host needs another one any more: who is released is only who would not
 *          see EINTR, nor wake up since a futex is overwritten; the others wait on, as if nothing
 *          had happened; more time is given to answer
 * returns  0; -ENOENT ... where /proc/self/task cannot be read, -ENOMEM
 * context  one caller at a time, signals held back; async-signal-safe; takes at most 0.3 s, at the
 *          end 2 s */
long mt_park_all(struct mt_park *park, bool is_end);
void mt_park_release(struct mt_park *park);

/* Asks the other threads for their signal stacks (signal_stacks.h), one after the other.
 *
 * context  as mt_park_all, on no signal stack; takes at most half a second */
void mt_park_ask_for_signal_stacks(void);

/* Two threads have the same signal stack, as is known now: who is yet to stand still does so on the
 * stack that it is on.
 *
 * context  any thread, signals held back */
void mt_park_leave_signal_stacks(void);

/* In a forked child, whose parent another thread may have been parking. */
void mt_park_after_fork(void);

/* The signals that may be on their way to a thread that is to stand still, as a set. */
uint64_t mt_park_signals(void);

/* Whether threads may stand still until the process ends. */
bool mt_park_lasts(void);

/* Whether nothing runs but the calling thread. */
bool mt_park_holds_all(const struct mt_park *park);

/* What happened to a thread; 0: it has ended. */
enum mt_snapshot_thread_state mt_park_state(const struct mt_parked_thread *thread);

#endif
