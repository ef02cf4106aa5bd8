/* Per-thread state. See thread_state.h. */
#define _GNU_SOURCE
#include "events/thread_state.h"

#include "base/block_owner.h"
#include "base/clock.h"
#include "base/os_threads.h"
#include "base/text.h"
#include "events/fault_stack.h"
#include "events/lane.h"
#include "events/thread_key.h"
#include "process/exec_environment.h"
#include "stacks/stack_table.h"
#include "trace/meta_writer.h"
#include "trace/trace_file.h"
#include "unwind/stack_bounds.h"
#include "unwind/unwind.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

enum { MOST_WARM = 64 };

static struct {
    struct mt_lock lock;
    /* States of ended threads: so many that keep the memory that they have touched, which the next
     * thread need not touch anew, and others, after many threads at once, that have none. */
    struct mt_thread *warm, *cold;
    uint32_t warm_count;
    struct mt_thread *made; /* all states, which stay where they are */
    struct mt_thread *next_looked_at;
    uint32_t last_index;
    uint32_t last_owner;
} g_threads;

static bool has_ended(const struct mt_thread *thread, long own) {
    return thread->tid == own || !mt_os_has_thread((int)thread->tid);
}

/* A state whose thread has ended, which nothing told: where there is no key, and of threads whose
 * first event comes after their last destructor, as a detached one that does nothing frees what
 * others' stacks leave behind. NULL when there is none among the next few, in turn, so that all are
 * looked at in time. Under the lock, and when none is parked. */
static struct mt_thread *find_left(void) {
    enum { MOST_LOOKED_AT = 4 };
    struct mt_thread *newest = __atomic_load_n(&g_threads.made, __ATOMIC_ACQUIRE);
    struct mt_thread *thread = g_threads.next_looked_at;
    long own = mt_os_tid();
    for (int i = 0; newest && i < MOST_LOOKED_AT; i++) {
        thread = thread ? thread : newest;
        g_threads.next_looked_at = thread->next_made;
        if (has_ended(thread, own))
            return thread;
        thread = thread->next_made;
    }
    return NULL;
}

/* As end_thread() would have. With all signals held back. */
static void end_left(struct mt_thread *thread, uint32_t tid) {
    mt_thread_repair(thread);
    mt_lane_leave(&thread->unwinder);
    mt_meta_thread(thread->index, tid, MT_THREAD_ENDED, "");
}

/* Under the lock; NULL when none is parked. */
static struct mt_thread *take_parked(void) {
    struct mt_thread **list = g_threads.warm ? &g_threads.warm : &g_threads.cold;
    struct mt_thread *thread = *list;
    if (list == &g_threads.warm)
        g_threads.warm_count--;
    if (thread)
        *list = thread->next_parked;
    return thread;
}

/* A state of a thread that has ended, for the calling one; NULL when there is none. */
static struct mt_thread *take_used(void) {
    uint64_t signals = mt_lock_enter(&g_threads.lock);
    struct mt_thread *parked = take_parked();
    struct mt_thread *left = parked ? NULL : find_left();
    uint32_t tid = left ? left->tid : 0;
    struct mt_thread *thread = parked ? parked : left;
    if (thread)
        thread->tid = (uint32_t)mt_os_tid();
    mt_lock_release(&g_threads.lock);
    if (left)
        end_left(left, tid);
    mt_os_restore_signals(signals);
    return thread;
}

static bool park_warm(struct mt_thread *thread) {
    uint64_t signals = mt_lock_enter(&g_threads.lock);
    bool has_room = g_threads.warm_count < MOST_WARM;
    if (has_room) {
        thread->next_parked = g_threads.warm;
        g_threads.warm = thread;
        g_threads.warm_count++;
    }
    mt_lock_exit(&g_threads.lock, signals);
    return has_room;
}

static void park(struct mt_thread *thread) {
    if (park_warm(thread))
        return;
    mt_event_writer_empty(&thread->writer);
    mt_unwind_empty(&thread->unwinder);
    uint64_t signals = mt_lock_enter(&g_threads.lock);
    thread->next_parked = g_threads.cold;
    g_threads.cold = thread;
    mt_lock_exit(&g_threads.lock, signals);
}

void mt_thread_repair(struct mt_thread *thread) {
    mt_event_writer_repair(&thread->writer);
    mt_refcount_writer_repair(&thread->refcounts);
    mt_unwind_forget(&thread->unwinder);
    mt_stack_table_repair();
}

/* Nothing of this thread runs any more: not even a hook that a handler interrupted, and then ended
 * the thread. Whoever gets the state is to find no half of an event. */
static void leave_all_hooks(struct mt_thread *thread) {
    if (mt_tls.inside)
        mt_thread_repair(thread);
    mt_lane_leave(&thread->unwinder);
}

/* pthread keys are destroyed in up to PTHREAD_DESTRUCTOR_ITERATIONS rounds; whatever the host
 * frees in its own destructors shall still find the thread's state. So ours asks for another
 * round until the last: the value counts them. */
static void end_thread(void *value) {
    uintptr_t round = (uintptr_t)value;
    struct mt_thread *thread = mt_tls.thread;
    if (!thread || !mt_thread_is_current())
        return;
    if (round < PTHREAD_DESTRUCTOR_ITERATIONS && mt_thread_key_set(round + 1))
        return;
    uint64_t signals = mt_os_block_signals();
    leave_all_hooks(thread);
    mt_tls.inside = 1;
    mt_thread_note_name();
    mt_meta_thread(thread->index, thread->tid, MT_THREAD_ENDED, "");
    mt_fault_stack_take_back();
    mt_tls.thread = NULL;
    mt_tls.key = 0;
    mt_tls.is_late = 1;
    park(thread);
    if (mt_tls.exec_storage)
        mt_exec_environment_end(mt_tls.exec_storage);
    mt_tls.inside = 0;
    mt_os_restore_signals(signals);
}

void mt_thread_state_init(void) {
    mt_thread_key_make(end_thread);
}

static struct mt_thread *make_thread(void) {
    struct mt_thread *thread = mt_os_map_pages(sizeof *thread);
    if (!thread)
        return NULL;
    uint32_t owner = __atomic_add_fetch(&g_threads.last_owner, 1, __ATOMIC_RELAXED);
    thread->owner = owner <= MT_OWNER_LAST ? owner : MT_OWNER_NONE;
    thread->next_made = __atomic_load_n(&g_threads.made, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&g_threads.made, &thread->next_made, thread, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return thread;
}

bool mt_thread_begin(void) {
    struct mt_thread *thread = take_used();
    if (!thread)
        thread = make_thread();
    if (!thread)
        return false;
    thread->index = __atomic_add_fetch(&g_threads.last_index, 1, __ATOMIC_RELAXED);
    if (thread->index > 1)
        __atomic_store_n(&mt_clock_orders_threads, 1, __ATOMIC_RELEASE);
    thread->tid = (uint32_t)mt_os_tid();
    thread->name[0] = 0;
    mt_os_thread_name(thread->name);
    mt_meta_thread(thread->index, thread->tid, MT_THREAD_BEGAN, thread->name);
    mt_unwind_forget(&thread->unwinder);
    mt_stack_bounds_begin(&thread->unwinder);
    mt_fault_stack_lend(thread);
    mt_tls.passes = 1;
    mt_thread_key_set(1);
    mt_tls.passes = 0;
    if (thread->writer.cursor && thread->writer.cursor < thread->writer.limit)
        mt_event_thread(&thread->writer, mt_clock_event_time(), thread->index);
    mt_tls.thread = thread;
    mt_tls.index = thread->index;
    mt_tls.key = *mt_generation ^ MT_TLS_KEY;
    return true;
}

void mt_thread_state_survive_fork(void) {
    if (mt_tls.thread) {
        mt_event_writer_survive_fork(&mt_tls.thread->writer);
        mt_refcount_writer_survive_fork(&mt_tls.thread->refcounts);
    }
    mt_lane_survive_fork();
    mt_lock_reset(&g_threads.lock);
    mt_thread_key_after_fork();
}

/* The hook that the fork interrupted still writes through these: what it has begun goes into the
 * void, and the next event into a chunk of the child's own trace. */
static void leave_to_interrupted_hook(void) {
    if (mt_tls.thread)
        mt_tls.thread->writer.limit = mt_tls.thread->refcounts.limit = NULL;
    mt_tls.thread = NULL;
}

void mt_thread_state_reset(void) {
    mt_lock_reset(&g_threads.lock);
    mt_thread_key_after_fork();
    mt_lane_reset(mt_tls.inside);
    /* The forking thread's own state is taken over; those of the parent's other threads are a
     * copy nobody owns: their memory stays, untouched. */
    g_threads.warm = g_threads.cold = g_threads.made = g_threads.next_looked_at = NULL;
    g_threads.warm_count = 0;
    if (mt_tls.inside)
        leave_to_interrupted_hook();
    struct mt_thread *own = mt_tls.thread;
    if (own) {
        mt_event_writer_forget(&own->writer);
        mt_refcount_writer_forget(&own->refcounts);
        mt_fault_stack_survive_fork(own);
        own->next_parked = own->next_made = NULL;
        g_threads.warm = g_threads.made = own;
        g_threads.warm_count = 1;
    }
    g_threads.last_index = 0;
    /* A walk through the table takes a page fault for each page of it; without other threads
     * nothing is in it. */
    if (mt_clock_orders_threads)
        mt_block_owner_forget();
    mt_clock_orders_threads = 0;
    mt_tls.thread = NULL;
    mt_tls.key = 0;
    mt_tls.index = 0;
    mt_tls.is_late = 0;
}

void mt_thread_states_check(void) {
    const struct mt_thread *thread = __atomic_load_n(&g_threads.made, __ATOMIC_ACQUIRE);
    for (; thread; thread = thread->next_made) {
        mt_event_writer_check(&thread->writer);
        mt_refcount_writer_check(&thread->refcounts);
    }
}

void mt_thread_note_name(void) {
    struct mt_thread *thread = mt_tls.thread;
    char name[16] = "";
    if (!thread || mt_os_thread_name(name) < 0 || mt_text_equal(name, thread->name))
        return;
    memcpy(thread->name, name, sizeof name);
    mt_meta_thread(thread->index, thread->tid, MT_THREAD_NAMED, name);
}
