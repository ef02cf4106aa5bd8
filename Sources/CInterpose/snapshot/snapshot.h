/* Heap snapshots: the memory of the process at one moment, as far as it can be pointers.
 *
 * The threads are parked (park.h); where there are others, a copy of the process is made, which
 * writes the image while the host goes on: nothing the host does meanwhile can disturb it. */
#ifndef MT_SNAPSHOT_H
#define MT_SNAPSHOT_H

#include "memtrace_snapshot.h"
#include "unwind/unwinder.h"

struct mt_snapshot_request {
    enum mt_snapshot_reason reason;
    int32_t detail;   /* exit status or signal, see the reason */
    const char *name; /* not terminated */
    size_t name_length;
    struct mt_frame caller;              /* of the recorder, in the host */
    const uint64_t *registers;           /* its MT_GENERAL_REGISTERS; NULL: not known */
    const void *vectors;                 /* its, as in struct mt_registers; NULL: not known */
    bool is_in_call;                     /* its, as in struct mt_registers */
    struct mt_signal_stack signal_stack; /* filled in */
    uint32_t tid;                        /* filled in */
    uint32_t number;                     /* filled in: of the snapshot, once it is begun */
    bool is_interrupted; /* in a signal handler: the loader's list may be half-way */
    bool is_end;         /* the process ends: the image is whole when the call returns */
    bool is_final;       /* nothing of the host runs afterwards but the end of the C library */
};

/* Takes a snapshot. At the end of the process it is written when this returns, else begun.
 *
 * returns  0; -EBUSY while another one is taken or written; -EAGAIN where no
 *          process may be made; -ENOENT without /proc; -ENOSPC, -EFBIG, -ENOMEM,
 *          MT_ERROR_MAX_SIZE, MT_ERROR_KEEP_FREE; -ENOSYS where there is no recording
 * context  any thread that holds no lock of the recorder; also from a signal handler; errno
 *          untouched */
long mt_snapshot_take(struct mt_snapshot_request *request);

/* The same in a signal handler, with the registers of the code that it has interrupted. */
long mt_snapshot_take_amid(struct mt_snapshot_request *request, const void *context);

/* From now on no copy of the process is made for a snapshot: with userfaultfd, a fork may wait
 * until a thread of the host has read that it happens, and the threads are held. They are, then,
 * until the snapshot is written.
 *
 * context  any thread; async-signal-safe */
void mt_snapshot_avoid_copies(void);

/* Whether a child whose end the program was told of is the copy that writes a snapshot: the program
 * has not started it. From then on the number may be that of a child of its own.
 *
 * context  any thread; async-signal-safe */
bool mt_snapshot_disown(long pid);

/* Takes the one of the end of the process, if it is wanted, and says in the trace why there is
 * none.
 *
 * detail  exit status or signal, see the reason
 * caller  the host's function that ends the process */
void mt_snapshot_at_end(enum mt_snapshot_reason reason, int32_t detail, struct mt_frame caller);

/* The same where the end is still to come, and may fail to: the other threads go on. */
void mt_snapshot_before_end(enum mt_snapshot_reason reason, int32_t detail, struct mt_frame caller);

/* In a forked child: its own trace has none yet. */
void mt_snapshot_after_fork(void);

/* In a process that was running already, before requests are handled: its threads may have set up
 * signal stacks that nobody has heard of. The calling one is in no handler. */
void mt_snapshot_meet_threads(void);

#endif
