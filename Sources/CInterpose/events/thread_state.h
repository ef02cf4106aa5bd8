/* What the recorder keeps per thread of the traced process, beside its TLS block (tls.h).
 *
 * In the recorder's own memory. A thread that ends hands it on together with its half-filled chunk,
 * so that 100 000 short threads do not make 100 000 chunks. */
#ifndef MT_THREAD_STATE_H
#define MT_THREAD_STATE_H

#include "base/lock.h"
#include "base/tls.h"
#include "trace/event_writer.h"
#include "trace/refcount_writer.h"
#include "types/type_sampler.h"
#include "unwind/unwinder.h"

struct mt_thread {
    struct mt_event_writer writer;
    uint32_t index; /* of the thread that owns it now */
    uint32_t owner; /* block_owner.h: of this state, whichever thread it belongs to */
    uint32_t tid;
    char name[16];
    void *fault_stack; /* fault_stack.h; NULL: none yet */
    struct mt_thread *next_parked;
    struct mt_thread *next_made;
    struct mt_type_queue types;
    struct mt_refcount_writer refcounts;
    _Alignas(MT_PAGE_SIZE) struct mt_unwinder unwinder; /* in pages that can be given back */
};

/* Gives the calling thread a state and an index.
 * returns  false when there is no memory for it */
bool mt_thread_begin(void);

/* After a hook that never returned, since a signal handler jumped past it or ended the thread:
 * whatever it left half done. With all signals held back. */
void mt_thread_repair(struct mt_thread *thread);

/* Makes sure that a thread's state ends with it. Once, at start-up. */
void mt_thread_state_init(void);

/* In a forked child, whose only thread is the calling one: all states are void. */
void mt_thread_state_reset(void);

/* In a forked child whose fork a signal handler called in the middle of a hook: that hook will go
 * on when the handler returns, and write into windows of the parent's trace, which are not mapped
 * here. Gives it memory to write to. Async-signal-safe. */
void mt_thread_state_survive_fork(void);

/* Writes the checksums of what is complete in the chunks of all threads, those that have ended
 * included: as mt_event_writer_check. */
void mt_thread_states_check(void);

/* Records the thread's name if it has changed. */
void mt_thread_note_name(void);

#endif
