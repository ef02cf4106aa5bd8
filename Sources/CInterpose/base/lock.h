/* A futex mutex for the recorder's cold paths.
 *
 * pthread_mutex would do, but it is interposable and its state cannot be reset in a forked child.
 * A waiter sleeps, so a real-time thread cannot starve the holder. Who waits for a lock holds it
 * with signals blocked: a handler that interrupted the holder would wait for itself, and one that
 * jumped away, or a cancellation, would leave the lock taken for ever. */
#ifndef MT_LOCK_H
#define MT_LOCK_H

#include "base/os.h"

/* 0 free, 1 held, 2 held with waiters. Zero-initialised is valid. */
struct mt_lock {
    uint32_t word;
};

static inline bool mt_lock_try(struct mt_lock *lock) {
    uint32_t free_word = 0;
    return __atomic_compare_exchange_n(&lock->word, &free_word, 1, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static inline void mt_lock_acquire(struct mt_lock *lock) {
    if (mt_lock_try(lock))
        return;
    while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE) != 0)
        mt_os_futex_wait(&lock->word, 2);
}

static inline void mt_lock_release(struct mt_lock *lock) {
    if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2)
        mt_os_futex_wake(&lock->word);
}

/* Both halves of a section under a lock that may be waited for. */
static inline uint64_t mt_lock_enter(struct mt_lock *lock) {
    uint64_t signals = mt_os_block_signals();
    mt_lock_acquire(lock);
    return signals;
}

static inline void mt_lock_exit(struct mt_lock *lock, uint64_t signals) {
    mt_lock_release(lock);
    mt_os_restore_signals(signals);
}

/* Only in a forked child, where no other thread exists that could hold it. */
static inline void mt_lock_reset(struct mt_lock *lock) {
    __atomic_store_n(&lock->word, 0, __ATOMIC_RELAXED);
}

#endif
