/* What the recorder keeps per thread of the traced process.
 *
 * The TLS block is plain data of the initial-exec model: touching it never allocates. All else is
 * in a struct mt_thread in the recorder's own memory, which a thread that ends hands on together
 * with its half-filled chunk, so that 100 000 short threads do not make 100 000 chunks. */
#ifndef MT_THREAD_STATE_H
#define MT_THREAD_STATE_H

#include "event_writer.h"
#include "lock.h"
#include "refcount_writer.h"
#include "type_sampler.h"
#include "unwind.h"

struct mt_thread {
    struct mt_event_writer writer;
    uint32_t index; /* of the thread that owns it now */
    uint32_t owner; /* block_owner.h: of this state, whichever thread it belongs to */
    uint32_t tid;
    char name[16];
    struct mt_thread *next_parked;
    struct mt_type_queue types;
    struct mt_refcount_writer refcounts;
    struct mt_unwinder unwinder;
};

struct mt_tls {
    uint64_t key; /* *mt_generation ^ MT_TLS_KEY while the thread may record the fast way */
    struct mt_thread *thread;
    uint64_t sample_left; /* sampling.h: bytes before the next point; 0 where all is recorded */
    struct mt_entered entered; /* of the hook that is running */
    uint32_t inside;           /* a hook is running */
    uint32_t index;            /* of the thread; survives its end */
    uint32_t is_late;          /* the thread's last destructor has run */
    uint32_t passes;           /* calls go straight through: recording is only being set up */
    struct mt_exec_environment *exec_storage; /* left behind by a vfork child, or in use */
    uint32_t in_loader;                       /* loader_gate.h: how often this thread has entered */
    uint32_t must_stamp;                      /* the next event needs a time of its own */
    uint64_t sample_state;                    /* of the random numbers */
    uint64_t sample_generation;               /* of *mt_generation, when they were seeded */
    uint32_t is_own; /* inside, too: the calls are the recorder's, of MT_THREAD_RECORDER */
};
extern __thread struct mt_tls mt_tls __attribute__((tls_model("initial-exec")));

/* The number of this recording, in a page that reads as 0 in a forked child: one load tells every
 * hook whether it may record. Points to a 0 of its own while there is no recording. */
extern MT_INTERNAL uint64_t *mt_generation;
extern MT_INTERNAL uint64_t mt_no_generation;

/* Neither a fresh TLS block (key 0) nor a wiped page (generation 0) may look like permission. */
#define MT_TLS_KEY 0x6d74726163655f6bu

static inline bool mt_thread_is_current(void) {
    return (mt_tls.key ^ *mt_generation) == MT_TLS_KEY;
}

/* Gives the calling thread a state and an index.
 * returns  false when there is no memory for it */
bool mt_thread_begin(void);

/* After a hook that never returned, since a signal handler jumped past it or ended the thread:
 * whatever it left half done. With all signals held back. */
void mt_thread_repair(struct mt_thread *thread);

/* Creates the key whose destructor ends a thread's state. Once, at start-up. */
void mt_thread_state_init(void);

/* In a forked child, whose only thread is the calling one: all states are void. */
void mt_thread_state_reset(void);

/* In a forked child whose fork a signal handler called in the middle of a hook: that hook will go
 * on when the handler returns, and write into windows of the parent's trace, which are not mapped
 * here. Gives it memory to write to. Async-signal-safe. */
void mt_thread_state_survive_fork(void);

/* Records the thread's name if it has changed. */
void mt_thread_note_name(void);

#endif
