/* Counts who holds the loader's lock. See loader_gate.h. */
#define _GNU_SOURCE
#include "loader/loader_gate.h"

#include "base/tls.h"
#include <time.h>

/* Who is in the lock needs microseconds, but on a busy machine it may be some time until it runs.
 */
enum { LONGEST_WAIT_NS = 1000 * 1000 * 1000 };

static struct {
    uint32_t users;
    uint32_t forks; /* under way */
} g_gate;

bool mt_loader_gate_enter(void) {
    __atomic_fetch_add(&g_gate.users, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&g_gate.forks, __ATOMIC_SEQ_CST) != 0) {
        __atomic_fetch_sub(&g_gate.users, 1, __ATOMIC_SEQ_CST);
        return false;
    }
    mt_tls.in_loader++;
    return true;
}

void mt_loader_gate_leave(void) {
    mt_tls.in_loader--;
    __atomic_fetch_sub(&g_gate.users, 1, __ATOMIC_SEQ_CST);
}

int mt_loader_gate_visit(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context) {
    int result = -1;
    uint64_t signals = mt_os_block_signals();
    if (mt_loader_gate_enter()) {
        result = dl_iterate_phdr(visit, context);
        mt_loader_gate_leave();
    }
    mt_os_restore_signals(signals);
    return result;
}

static bool is_used_by_others(void) {
    return __atomic_load_n(&g_gate.users, __ATOMIC_SEQ_CST) > mt_tls.in_loader;
}

/* Mostly there is nothing to wait for, and not a system call is made: a seccomp filter of the host
 * may forbid that of the clock, which programs read without one. */
void mt_loader_gate_before_fork(void) {
    __atomic_fetch_add(&g_gate.forks, 1, __ATOMIC_SEQ_CST);
    if (!is_used_by_others())
        return;
    uint64_t start = mt_os_time_ns(CLOCK_MONOTONIC);
    while (is_used_by_others() && mt_os_time_ns(CLOCK_MONOTONIC) - start < LONGEST_WAIT_NS)
        mt_os_yield();
}

void mt_loader_gate_after_fork_in_parent(void) {
    __atomic_fetch_sub(&g_gate.forks, 1, __ATOMIC_SEQ_CST);
}

void mt_loader_gate_after_fork_in_child(void) {
    __atomic_store_n(&g_gate.users, mt_tls.in_loader, __ATOMIC_SEQ_CST);
    __atomic_store_n(&g_gate.forks, 0, __ATOMIC_SEQ_CST);
}
