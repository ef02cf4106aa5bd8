/* Guarded blocks: each in pages of its own, which end where the block does, and which nobody may
 * touch once it is freed. Who writes or reads past the end of one, or uses it after it was freed,
 * is stopped there and then.
 *
 * Only where it was asked for (MEMTRACE_GUARD). As with zombies and redzones the real functions are
 * replaced by ours, so that recording knows nothing of it. What is noticed, the trace's ACCESS
 * records say, and OVERRUN records of the bytes between the end of a block and that of its page. */
#ifndef MT_GUARD_H
#define MT_GUARD_H

#include "base/number_ranges.h"
#include "base/os.h"
#include "memtrace_format.h"

struct mt_guard_settings {
    struct mt_number_ranges sizes; /* of the blocks that are guarded */
    uint64_t every;                /* of these, one in so many, at random */
    size_t alignment; /* of a block for which none was asked: a power of two. What is less
                         than that of malloc shows the first byte too many at once; a
                         program that counts on malloc's then goes wrong */
    bool is_front;    /* blocks begin where their pages do: who goes in front of one is stopped
                         there and then, and who goes behind it only after up to a page */
};

/* Guards blocks from now on, while there is room for them, and fewer and fewer as it gets short.
 *
 * returns  false for want of addresses: then nothing is changed
 * context  once, after mt_real_resolve(), and after mt_zombies_begin() and mt_redzones_begin():
 *          those are for the blocks that are not guarded */
bool mt_guard_begin(const struct mt_guard_settings *settings);

/* In a forked child: what was written before the fork is its parent's to tell. */
void mt_guard_after_fork(void);

/* The process has limited its addresses (RLIMIT_AS): those that are not used are given back but for
 * a share. */
void mt_guard_heed_limit(void);

/* Nothing is asked of the kernel any more: no block is guarded, and those that are stay in reach
 * when they are freed. */
void mt_guard_rest(void);

/* Looks behind all live guarded blocks: at the end of the process, or at a mark. Those that were
 * written past are recorded once. Nothing where no blocks are guarded; async-signal-safe. */
void mt_guard_check(enum mt_overrun_kind kind);

/* A signal is about to end the process: where it is for an access beside a guarded block, or to a
 * freed one, that is recorded.
 *
 * address  si_addr of the signal
 * context  third argument of a signal handler, in which this is called */
void mt_guard_note_signal(int signal, uintptr_t address, const void *context);

#endif
