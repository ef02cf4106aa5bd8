/* See park.h. */
#define _GNU_SOURCE
#include "snapshot/park.h"

#include "base/foreign_thread.h"
#include "base/lock.h"
#include "base/os_threads.h"
#include "events/thread_list.h"
#include "events/thread_state.h"
#include "snapshot/cut_submission.h"
#include "snapshot/cut_transfer.h"
#include "snapshot/resume.h"
#include "snapshot/signal_stacks.h"
#include <errno.h>
#include <string.h>
#include <time.h>

/* struct mt_parked_thread.state, in this order. */
enum {
    ASKED = 1, /* the signal is on its way */
    ARRIVING,  /* its handler runs */
    PARKED,
    RELEASED,
    BLOCKING, /* never asked: it holds the signal back */
    SILENT,   /* did not answer, or there was no room for its signal */
    ENDED,    /* was on its way out, or is none of the program's */
    RUNNING   /* answered, and went on: it is asked again */
};

/* The C library's own signal, with which setuid reaches all threads: its sigfillset leaves it out,
 * so that neither "block everything" nor sigwait on everything takes it. */
enum { SETXID_SIGNAL = 33, LOWEST_SIGNAL = 35, HIGHEST_SIGNAL = 64 };

/* At the end, how often threads that wait for nothing may go on, and for how long; and how much of
 * the processor makes known that a thread has more to do. What it was doing often is what the
 * process has waited for: it has woken whoever ends it, and its frames still hold what it worked
 * with. */
enum { MOST_ROUNDS = 4, ROUND_NS = 1000000, MUCH_NS = 300000 };

/* How long to wait for an answer, and for who holds the signal back to do so no longer. */
static const struct patience {
    uint64_t answer_ns, beginning_ns;
} patience_in_between = {300000000, 10000000}, patience_at_end = {2000000000, 200000000};

static uint64_t now(void) {
    return mt_os_time_ns(CLOCK_MONOTONIC);
}

static struct {
    uint32_t arrived; /* a futex */
    uint32_t turn;    /* counts mt_park_all */
    int signal;       /* 0: no handler is installed */
    bool is_end;      /* nobody is released who would notice */
    bool may_run;     /* who waits for nothing is to go on for a moment */
    bool only_looks;  /* all are to go on: their signal stacks are looked at */
    struct mt_os_action before;
} g_park;

/* Whether a thread would notice that it was interrupted: its call fails, or what it waits for in
 * memory has been overwritten, as what was on main's stack is by handlers of exit. */
static bool would_notice(const struct mt_registers *registers) {
    return registers->is_waiting || mt_registers_would_wake(registers);
}

/* Where a thread waits that shall not go on before the process ends. */
static void wait_for_the_end(const struct mt_registers *registers) {
    static uint32_t never;
    while (would_notice(registers))
        mt_os_futex_wait(&never, 0);
}

/* Whether a thread that does not wait is to go on for a moment. */
static bool is_to_finish(struct mt_parked_thread *thread) {
    if (!thread->registers.is_running || !__atomic_load_n(&g_park.may_run, __ATOMIC_ACQUIRE))
        return false;
    uint64_t used = mt_os_time_ns(CLOCK_THREAD_CPUTIME_ID);
    if (thread->used_ns == 0)
        thread->used_ns = used;
    return used - thread->used_ns < MUCH_NS;
}

/* A call that was cut short would return, and let the thread go on: it still waits. */
static void read_registers(struct mt_registers *registers, const void *context,
                           const struct mt_call *seen) {
    mt_registers_read(registers, context);
    if (!registers->is_running ||
        !(mt_cut_transfer_is(context, seen) || mt_cut_submission_is(context, seen)))
        return;
    registers->is_waiting = true;
    registers->is_running = false;
}

/* returns  false where a signal is late: nobody waits for it any more, or only for somebody else,
 *          who has the place now, perhaps since this has looked first */
static bool arrive(struct mt_parked_thread *thread) {
    uint32_t tid = (uint32_t)mt_os_tid(), asked = ASKED;
    if (__atomic_load_n(&thread->tid, __ATOMIC_RELAXED) != tid ||
        !__atomic_compare_exchange_n(&thread->state, &asked, ARRIVING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return false;
    if (__atomic_load_n(&thread->tid, __ATOMIC_RELAXED) == tid)
        return true;
    __atomic_store_n(&thread->state, SILENT, __ATOMIC_RELEASE);
    return false;
}

/* Tells that the thread stands still, and does so until it is released. Its place may be another
 * one's by the time it wakes, who stands still in a later turn. It looks itself, too: with a wake
 * that is missed, it would stand still for ever. */
static void stand_still(struct mt_parked_thread *thread) {
    enum { LOOK_NS = 100000000 };
    uint32_t turn = __atomic_load_n(&g_park.turn, __ATOMIC_ACQUIRE);
    __atomic_store_n(&thread->state, PARKED, __ATOMIC_RELEASE);
    __atomic_fetch_add(&g_park.arrived, 1, __ATOMIC_RELEASE);
    mt_os_futex_wake_shared(&g_park.arrived);
    while (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == PARKED &&
           __atomic_load_n(&g_park.turn, __ATOMIC_ACQUIRE) == turn)
        mt_os_futex_wait_for(&thread->state, PARKED, LOOK_NS);
}

/* Tells what signal stack the thread has, and that it goes on. */
static void tell_signal_stack(struct mt_parked_thread *thread) {
    mt_signal_stacks_change(thread->tid, (struct mt_signal_stack){0, 0},
                            thread->registers.signal_stack);
    __atomic_store_n(&thread->state, RUNNING, __ATOMIC_RELEASE);
    __atomic_fetch_add(&g_park.arrived, 1, __ATOMIC_RELEASE);
    mt_os_futex_wake_shared(&g_park.arrived);
}

/* What a foreign thread points to is memory as any other. */
static void describe(struct mt_parked_thread *thread) {
    bool is_foreign = mt_thread_is_foreign();
    thread->tls_base = is_foreign ? 0 : mt_os_thread_pointer();
    thread->index = is_foreign ? 0 : mt_tls.index;
}

/* Runs on the host's stack, or its alternate one, with all signals held back. */
static void on_signal(int signal, siginfo_t *info, void *context) {
    if (info->si_code != SI_QUEUE || info->si_pid != (pid_t)mt_os_pid()) {
        /* Somebody else's. */
        if (g_park.before.handler != NULL && g_park.before.handler != MT_SIGNAL_IGNORED)
            g_park.before.handler(signal, info, context);
        return;
    }
    struct mt_parked_thread *thread = info->si_value.sival_ptr;
    if (!arrive(thread)) {
        struct mt_registers late;
        read_registers(&late, context, NULL);
        if (g_park.is_end)
            wait_for_the_end(&late);
        mt_resume_call(context, NULL);
        return;
    }
    struct mt_call seen = thread->call;
    read_registers(&thread->registers, context, &seen);
    if (__atomic_load_n(&g_park.only_looks, __ATOMIC_ACQUIRE)) {
        tell_signal_stack(thread);
        mt_resume_call(context, &seen);
        return;
    }
    if (is_to_finish(thread)) {
        /* Whoever has asked is not woken: it would take the processor again. */
        __atomic_store_n(&thread->state, RUNNING, __ATOMIC_RELEASE);
        return;
    }
    describe(thread);
    stand_still(thread);
    mt_resume_call(context, &seen);
}

/* ---- The signal ---- */

static bool holds_back(const struct mt_parked_thread *thread, int signal) {
    return thread->blocked >> (signal - 1) & 1;
}

static size_t count_holding_back(const struct mt_park *park, int signal) {
    size_t count = 0;
    for (size_t i = 0; i < park->count; i++)
        count += holds_back(&park->threads[i], signal);
    return count;
}

/* The C library's, unless some thread holds it back that would take a real-time signal without a
 * handler: of these, the one that the fewest hold back. */
static int choose_signal(const struct mt_park *park) {
    int best = SETXID_SIGNAL;
    size_t fewest = count_holding_back(park, best);
    for (int signal = HIGHEST_SIGNAL; signal >= LOWEST_SIGNAL && fewest > 0; signal--) {
        struct mt_os_action action;
        if (mt_os_action(signal, NULL, &action) < 0 || action.handler != NULL)
            continue;
        size_t holding_back = count_holding_back(park, signal);
        if (holding_back < fewest) {
            fewest = holding_back;
            best = signal;
        }
    }
    return best;
}

/* A thread may find meanwhile that another one has the same signal stack. */
static struct mt_lock g_handler;

static void install(int signal) {
    mt_lock_acquire(&g_handler);
    struct mt_os_action action = mt_signal_stacks_handler(on_signal);
    g_park.signal = mt_os_action(signal, &action, &g_park.before) < 0 ? 0 : signal;
    mt_lock_release(&g_handler);
}

void mt_park_leave_signal_stacks(void) {
    mt_lock_acquire(&g_handler);
    struct mt_os_action action = mt_signal_stacks_handler(on_signal);
    if (g_park.signal)
        mt_os_action(g_park.signal, &action, NULL);
    mt_lock_release(&g_handler);
}

void mt_park_after_fork(void) {
    mt_lock_reset(&g_handler);
}

/* Where there was no handler, what has not been delivered would end the process: ignoring the
 * signal takes it back. The C library's handler passes over what it has not sent. */
static void uninstall(void) {
    struct mt_os_action ignore = {.handler = MT_SIGNAL_IGNORED};
    mt_lock_acquire(&g_handler);
    if (g_park.signal && g_park.before.handler == NULL)
        mt_os_action(g_park.signal, &ignore, NULL);
    if (g_park.signal)
        mt_os_action(g_park.signal, &g_park.before, NULL);
    g_park.signal = 0;
    mt_lock_release(&g_handler);
}

/* ---- Parking ---- */

/* Its handler may still run when all is over: this memory is never given back. */
static struct mt_parked_thread *g_threads;
static uint32_t *g_tids;

/* Threads are listed in one order, new ones last: a look beginning at `place` nearly always finds
 * at once. */
static bool is_known(const struct mt_park *park, uint32_t tid, size_t *place) {
    for (size_t i = 0; i < park->count; i++) {
        size_t at = (*place + i) % park->count;
        if (park->threads[at].tid == tid) {
            *place = at + 1;
            return true;
        }
    }
    return false;
}

/* Adds the threads that are listed now and were not before.
 * returns  how many, or -errno */
static long add_new(struct mt_park *park) {
    long listed = mt_thread_list(g_tids);
    size_t before = park->count, place = 0;
    for (long i = 0; i < listed && park->count < MT_THREADS_MAX; i++) {
        if (is_known(park, g_tids[i], &place))
            continue;
        struct mt_parked_thread *thread = &park->threads[park->count++];
        memset(thread, 0, sizeof *thread);
        thread->tid = g_tids[i];
        if (!mt_thread_blocked_signals(thread->tid, &thread->blocked) ||
            mt_thread_is_kernels(thread->tid, thread->blocked))
            thread->state = ENDED;
        /* Before anybody stands still. */
        mt_call_see(&thread->call, thread->tid);
    }
    return listed < 0 ? listed : (long)(park->count - before);
}

static void ask(struct mt_parked_thread *thread) {
    if (thread->state == ENDED)
        return;
    if (!g_park.signal || holds_back(thread, g_park.signal)) {
        thread->state = BLOCKING;
        return;
    }
    thread->state = ASKED;
    long error = mt_os_queue_signal((int)thread->tid, g_park.signal, thread);
    if (error < 0)
        __atomic_store_n(&thread->state, error == -ESRCH ? ENDED : SILENT, __ATOMIC_RELEASE);
}

/* Threads that are being created, or end, hold all signals back for a moment: asks them again. */
static void ask_blocking(struct mt_park *park) {
    for (size_t i = 0; i < park->count; i++) {
        struct mt_parked_thread *thread = &park->threads[i];
        if (thread->state != BLOCKING)
            continue;
        if (!mt_thread_blocked_signals(thread->tid, &thread->blocked))
            thread->state = ENDED;
        ask(thread);
    }
}

static size_t count_in(const struct mt_park *park, uint32_t low, uint32_t high) {
    size_t count = 0;
    for (size_t i = 0; i < park->count; i++) {
        uint32_t state = __atomic_load_n(&park->threads[i].state, __ATOMIC_ACQUIRE);
        count += state >= low && state <= high;
    }
    return count;
}

/* Nobody wakes who waits for threads that have ended, or run. */
enum { NAP_NS = 2000000 };

/* Waits for those who were asked; who has ended meanwhile is waited for no longer. */
static void await(struct mt_park *park, uint64_t deadline) {
    for (;;) {
        uint32_t arrived = __atomic_load_n(&g_park.arrived, __ATOMIC_ACQUIRE);
        if (count_in(park, ASKED, ARRIVING) == 0)
            return;
        if (now() >= deadline)
            return;
        mt_os_futex_wait_for(&g_park.arrived, arrived, g_park.may_run ? NAP_NS / 4 : NAP_NS);
        for (size_t i = 0; i < park->count; i++) {
            struct mt_parked_thread *thread = &park->threads[i];
            uint64_t blocked;
            if (thread->state == ASKED && !mt_thread_blocked_signals(thread->tid, &blocked))
                thread->state = ENDED;
        }
    }
}

/* Who has not answered goes on, also when the signal reaches it now. */
static void give_up(struct mt_park *park) {
    for (size_t i = 0; i < park->count; i++) {
        uint32_t asked = ASKED;
        __atomic_compare_exchange_n(&park->threads[i].state, &asked, SILENT, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
    /* ARRIVING lasts for some instructions. */
    while (count_in(park, ARRIVING, ARRIVING) > 0)
        mt_os_yield();
}

/* Whether a thread that has answered leaves its signal stack soon: a handler may have to wait for
 * what is left of a call's time (resume.h). The kernel takes back the signals that were held back
 * just before it has read the last of the handler's frame: then the thread waits in a call again,
 * or some time has passed. */
static bool leaves_signal_stack(const struct mt_parked_thread *thread) {
    enum { LEAVE_NS = 50000000, LAST_NS = 1000000, SHORT_NAP_NS = 50000 };
    static uint32_t never;
    uint64_t start = now(), taken_back = 0, blocked;
    struct mt_call call;
    for (; now() - start < LEAVE_NS; mt_os_futex_wait_for(&never, 0, SHORT_NAP_NS)) {
        if (!mt_thread_blocked_signals(thread->tid, &blocked))
            return true;
        if (blocked >> (g_park.signal - 1) & 1)
            continue;
        mt_call_see(&call, thread->tid);
        if (call.pc != 0 || (taken_back != 0 && now() - taken_back >= LAST_NS))
            return true;
        if (taken_back == 0)
            taken_back = now();
    }
    return false;
}

/* Asks one thread after the other for its signal stack, until two have the same: two at a time
 * would meet on it. */
static void ask_for_signal_stacks(struct mt_park *park) {
    enum { ANSWER_NS = 50000000, ALL_NS = 500000000 };
    uint64_t start = now();
    for (size_t i = 0; i < park->count && now() - start < ALL_NS; i++) {
        struct mt_parked_thread *thread = &park->threads[i];
        ask(thread);
        await(park, now() + ANSWER_NS);
        give_up(park);
        if (mt_signal_stacks_are_shared())
            return;
        if (thread->state == RUNNING && thread->registers.signal_stack.size != 0 &&
            !leaves_signal_stack(thread)) {
            mt_signal_stacks_assume_shared();
            return;
        }
    }
}

static bool open_storage(void) {
    if (!g_threads)
        g_threads = mt_os_map_pages(MT_THREADS_MAX * sizeof *g_threads);
    if (!g_tids)
        g_tids = mt_os_map_pages(MT_THREADS_MAX * sizeof *g_tids);
    return g_threads && g_tids;
}

/* Asks the last ones listed, and whoever is listed meanwhile.
 *
 * fresh  how many were listed last
 * start  when the first ones were */
static void park_listed(struct mt_park *park, long fresh, uint64_t start) {
    const struct patience *patience = g_park.is_end ? &patience_at_end : &patience_in_between;
    /* Who is not parked yet may start others: until a look finds nobody new. */
    while (fresh > 0 ||
           (count_in(park, BLOCKING, BLOCKING) > 0 && now() - start < patience->beginning_ns)) {
        if (fresh <= 0)
            mt_os_futex_wait_for(&g_park.arrived, g_park.arrived, 500000);
        ask_blocking(park);
        for (size_t i = park->count - (size_t)(fresh > 0 ? fresh : 0); i < park->count; i++)
            ask(&park->threads[i]);
        await(park, start + patience->answer_ns);
        if (now() - start >= patience->answer_ns)
            break;
        fresh = add_new(park);
    }
}

/* Asks those again who went on. */
static void ask_running(struct mt_park *park, uint64_t deadline) {
    for (size_t i = 0; i < park->count; i++) {
        if (park->threads[i].state == RUNNING)
            ask(&park->threads[i]);
    }
    await(park, deadline);
}

/* Lets those go on for a moment who do, and parks them then, with those whom they have started. */
static void park_running(struct mt_park *park, uint64_t start) {
    static uint32_t never;
    for (int round = 1; round <= MOST_ROUNDS && count_in(park, RUNNING, RUNNING) > 0; round++) {
        mt_os_futex_wait_for(&never, 0, ROUND_NS);
        __atomic_store_n(&g_park.may_run, round < MOST_ROUNDS, __ATOMIC_RELEASE);
        ask_running(park, start + patience_at_end.answer_ns);
    }
    __atomic_store_n(&g_park.may_run, false, __ATOMIC_RELEASE);
    park_listed(park, add_new(park), start);
}

long mt_park_all(struct mt_park *park, bool is_end) {
    *park = (struct mt_park){0};
    if (!open_storage())
        return -ENOMEM;
    park->threads = g_threads;
    __atomic_fetch_add(&g_park.turn, 1, __ATOMIC_RELEASE);
    g_park.is_end = g_park.may_run = is_end;
    long fresh = add_new(park);
    if (fresh <= 0)
        return fresh;
    install(choose_signal(park));
    uint64_t start = now();
    park_listed(park, fresh, start);
    if (count_in(park, RUNNING, RUNNING) > 0)
        park_running(park, start);
    give_up(park);
    return 0;
}

void mt_park_ask_for_signal_stacks(void) {
    struct mt_park park = {0};
    if (!open_storage())
        return;
    park.threads = g_threads;
    __atomic_fetch_add(&g_park.turn, 1, __ATOMIC_RELEASE);
    if (add_new(&park) <= 0)
        return;
    install(choose_signal(&park));
    __atomic_store_n(&g_park.only_looks, true, __ATOMIC_RELEASE);
    ask_for_signal_stacks(&park);
    __atomic_store_n(&g_park.only_looks, false, __ATOMIC_RELEASE);
    uninstall();
}

void mt_park_release(struct mt_park *park) {
    /* At the end a late answer must still find the handler. */
    if (!g_park.is_end)
        uninstall();
    for (size_t i = 0; i < park->count; i++) {
        struct mt_parked_thread *thread = &park->threads[i];
        if (thread->state != PARKED || (g_park.is_end && would_notice(&thread->registers)))
            continue;
        __atomic_store_n(&thread->state, RELEASED, __ATOMIC_RELEASE);
        /* Who was released before, and slept on with the place, as well. */
        mt_os_futex_wake_shared(&thread->state);
    }
}

uint64_t mt_park_signals(void) {
    int signal = g_park.signal;
    return (uint64_t)1 << (SETXID_SIGNAL - 1) | (signal ? (uint64_t)1 << (signal - 1) : 0);
}

bool mt_park_lasts(void) {
    return g_park.is_end && g_park.signal != 0;
}

bool mt_park_holds_all(const struct mt_park *park) {
    for (size_t i = 0; i < park->count; i++) {
        enum mt_snapshot_thread_state state = mt_park_state(&park->threads[i]);
        if (state != MT_SNAPSHOT_PARKED && state != 0)
            return false;
    }
    return true;
}

enum mt_snapshot_thread_state mt_park_state(const struct mt_parked_thread *thread) {
    switch (thread->state) {
    case PARKED:
    case RELEASED:
        return MT_SNAPSHOT_PARKED;
    case BLOCKING:
        return MT_SNAPSHOT_BLOCKING;
    case ENDED:
        return 0;
    default:
        return MT_SNAPSHOT_SILENT;
    }
}
