/* Keeps changes of the stack table apart. See stack_guard.h. */
#include "stacks/stack_guard.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/os_threads.h"
#include "base/tls.h"

enum { WAIT_NS = 100 * 1000, WAITS = 200 };

static struct {
    struct mt_lock lock;
    const struct mt_tls *interruptible; /* of the thread that changes the table so */
    bool was_awaited;                   /* in vain: the next ones are not to wait as long again */
} g_guard;

static void set_interruptible(const struct mt_tls *thread) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&g_guard.interruptible, thread, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Only the first thread of a process comes here: the second one has set mt_clock_orders_threads
 * before its first event. */
static bool enter_interruptibly(void) {
    if (__atomic_load_n(&mt_clock_orders_threads, __ATOMIC_ACQUIRE) || g_guard.interruptible)
        return false;
    set_interruptible(&mt_tls);
    if (mt_lock_try(&g_guard.lock))
        return true;
    set_interruptible(NULL);
    return false;
}

/* A change that may be interrupted takes a microsecond; one that is may wait for this very
 * thread. */
static bool acquire(void) {
    for (int waits = 0; !mt_lock_try(&g_guard.lock); waits++) {
        if (!__atomic_load_n(&g_guard.interruptible, __ATOMIC_ACQUIRE)) {
            mt_lock_acquire(&g_guard.lock);
            return true;
        }
        if (waits == WAITS || __atomic_load_n(&g_guard.was_awaited, __ATOMIC_RELAXED)) {
            __atomic_store_n(&g_guard.was_awaited, true, __ATOMIC_RELAXED);
            return false;
        }
        mt_os_futex_wait_for(&g_guard.lock.word, 1, WAIT_NS);
    }
    return true;
}

bool mt_stack_guard_enter(struct mt_stack_guard *guard, bool may_be_interrupted) {
    guard->is_interruptible = may_be_interrupted && enter_interruptibly();
    if (guard->is_interruptible)
        return true;
    if (mt_stack_guard_is_interrupted())
        return false;
    guard->signals = mt_os_block_signals();
    if (acquire())
        return true;
    mt_os_restore_signals(guard->signals);
    return false;
}

static void exit_interruptibly(void) {
    __atomic_store_n(&g_guard.was_awaited, false, __ATOMIC_RELAXED);
    mt_lock_release(&g_guard.lock);
    set_interruptible(NULL);
}

void mt_stack_guard_exit(const struct mt_stack_guard *guard) {
    if (mt_likely(guard->is_interruptible))
        exit_interruptibly();
    else
        mt_lock_exit(&g_guard.lock, guard->signals);
}

bool mt_stack_guard_is_interrupted(void) {
    return __atomic_load_n(&g_guard.interruptible, __ATOMIC_ACQUIRE) == &mt_tls;
}

/* What was left in the instruction before the lock was taken, or in the one after it was given
 * back, gives a free lock back: a thread that was made since then would have to hold it. */
void mt_stack_guard_repair(void) {
    exit_interruptibly();
}

void mt_stack_guard_reset(void) {
    set_interruptible(NULL);
    g_guard.was_awaited = false;
    mt_lock_reset(&g_guard.lock);
}
