/* See signal_stacks.h. */
#define _GNU_SOURCE
#include "snapshot/signal_stacks.h"

/* Who has a stack, by its address: the latest thread only, and of two addresses that meet in one
 * place the latest. A stack that many threads have is met again by each of them.
 *
 * An owner is 42 bits of a hash of the address, and a thread's number, which has 22 at most
 * (PID_MAX_LIMIT). */
enum { PLACES = 256, TID_BITS = 22 };
static uint64_t g_owners[PLACES];
static bool g_are_shared;

static uint64_t *place_of(uint64_t hash) {
    return &g_owners[hash >> 56];
}

static uint64_t hash_of(struct mt_signal_stack stack) {
    return stack.start * 0x9E3779B97F4A7C15;
}

static uint64_t owner_of(uint64_t hash, uint32_t tid) {
    enum { KEPT_BITS = 64 - TID_BITS, UNUSED_BITS = 14 };
    uint64_t kept = hash >> UNUSED_BITS & (((uint64_t)1 << KEPT_BITS) - 1);
    return kept << TID_BITS | tid;
}

/* An owner that has ended, or is a thread of the process that has forked, has it no longer. */
static bool is_anothers(uint64_t owner, uint64_t own) {
    uint32_t tid = owner & (((uint32_t)1 << TID_BITS) - 1);
    return owner != own && owner >> TID_BITS == own >> TID_BITS && mt_os_has_thread((int)tid);
}

void mt_signal_stacks_assume_shared(void) {
    __atomic_store_n(&g_are_shared, true, __ATOMIC_RELEASE);
}

static void set_up(uint32_t tid, struct mt_signal_stack stack) {
    uint64_t hash = hash_of(stack), own = owner_of(hash, tid);
    uint64_t before = __atomic_exchange_n(place_of(hash), own, __ATOMIC_ACQ_REL);
    if (before != 0 && is_anothers(before, own))
        mt_signal_stacks_assume_shared();
}

static void give_up(uint32_t tid, struct mt_signal_stack stack) {
    uint64_t hash = hash_of(stack), own = owner_of(hash, tid);
    __atomic_compare_exchange_n(place_of(hash), &own, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void mt_signal_stacks_change(uint32_t tid, struct mt_signal_stack before,
                             struct mt_signal_stack now) {
    if (before.size != 0)
        give_up(tid, before);
    if (now.size != 0)
        set_up(tid, now);
}

bool mt_signal_stacks_are_shared(void) {
    return __atomic_load_n(&g_are_shared, __ATOMIC_ACQUIRE);
}

struct mt_os_action mt_signal_stacks_handler(void (*handler)(int, siginfo_t *, void *)) {
    struct mt_os_action action = mt_os_handler(handler);
    if (mt_signal_stacks_are_shared())
        action.flags &= ~(unsigned long)SA_ONSTACK;
    return action;
}

void mt_signal_stacks_meet_own(void) {
    mt_signal_stacks_change((uint32_t)mt_os_tid(), (struct mt_signal_stack){0, 0},
                            mt_os_signal_stack());
}
