/* The TLS block of a thread of the traced process: plain data of the initial-exec model, which
 * never allocates when it is touched. */
#ifndef MT_TLS_H
#define MT_TLS_H

#include "base/os.h"
#include <time.h>

struct mt_exec_environment;
struct mt_thread;

/* A call of a hook: its caller's stack pointer, and the word below it. Where calls push the return
 * address, that is it, and stays as long as the call runs; elsewhere 0. */
struct mt_entered {
    uintptr_t sp, word;
};

static inline struct mt_entered mt_entered_at(uintptr_t sp) {
#if defined(__x86_64__)
    return (struct mt_entered){sp, ((const uintptr_t *)sp)[-1]};
#else
    return (struct mt_entered){sp, 0};
#endif
}

/* A call that may wait, noted by a hook (noted_wait.h). */
struct mt_noted_wait {
    uintptr_t sp;          /* where it was called */
    uint64_t ticks;        /* when */
    uint64_t arguments[3]; /* the first ones */
    uint64_t limit_ns;     /* once it was interrupted: how long it may wait in all */
    struct timespec rest;  /* what the interrupted call waits for, where its time limit is one */
    uint32_t number;       /* of the system call */
    bool is_shortened;     /* limit_ns is known, and the call is given the rest */
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
    uint32_t sample_rests;                    /* recording was paused when the thread last looked */
    uint32_t is_own;       /* inside, too: the calls are the recorder's, of MT_THREAD_RECORDER */
    uint32_t is_bundled;   /* inside, too: what is called now is part of an allocator's function */
    uint32_t in_libunwind; /* libunwind is running for us, and no signal handler can */
    void *fault_stack;     /* fault_stack.h: the thread's signal stack, if that is ours */
    uintptr_t stack_end;   /* fault_stack.h: of a fault beyond it; 0: it was not */
    struct mt_noted_wait wait;
    uint64_t mark; /* MT_TLS_MARK in every thread of the C library's, from its start */
};
extern __thread struct mt_tls mt_tls __attribute__((tls_model("initial-exec")));

/* The number of this recording, in a page that reads as 0 in a forked child: one load tells every
 * hook whether it may record. Points to a 0 of its own while there is no recording. */
extern MT_INTERNAL uint64_t *mt_generation;
extern MT_INTERNAL uint64_t mt_no_generation;

/* Neither a fresh TLS block (key 0) nor a wiped page (generation 0) may look like permission. */
#define MT_TLS_KEY 0x6d74726163655f6bu

/* foreign_thread.h */
#define MT_TLS_MARK UINT64_C(0x6d65747265616421)

static inline bool mt_thread_is_current(void) {
    return (mt_tls.key ^ *mt_generation) == MT_TLS_KEY;
}

#endif
