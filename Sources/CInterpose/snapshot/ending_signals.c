/* See ending_signals.h. */
#define _GNU_SOURCE
#include "snapshot/ending_signals.h"

#include "base/foreign_thread.h"
#include "base/os_threads.h"
#include "base/registers.h"
#include "base/tls.h"
#include "checks/heap_checks.h"
#include "events/crash.h"
#include "events/fault_stack.h"
#include "events/open_chunks.h"
#include "loader/image_map.h"
#include "process/recording.h"
#include "snapshot/snapshot.h"
#include "trace/trace_file.h"
#include <string.h>

enum { HIGHEST_ENDING = SIGSYS };

/* What ends a process unless it is handled. */
static const int ending_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,
                                     SIGABRT, SIGBUS,  SIGFPE,  SIGSEGV, SIGPIPE,
                                     SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGSYS};

/* What on_ending has taken the place of: most often the default. */
static struct mt_os_action g_before[HIGHEST_ENDING + 1];

/* Where it has, as a set. */
static uint64_t g_taken;

/* Raised by the processor, for what it was about to do. */
static bool is_fault(int signal, const siginfo_t *info) {
    return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL ||
                                 signal == SIGFPE || signal == SIGTRAP);
}

/* In a process that owns its trace: a forked child has no page where its parent's header was. */
static bool has_taken_one(int signal) {
    return signal == SIGABRT && mt_trace_file.header->end_kind == MT_END_ABORT;
}

/* What was raised by the processor would come again when the handler returns, unless there is
 * memory now where there was none: it is sent as it came. Other signals are sent once more. */
static void send_again(int signal, const siginfo_t *info) {
    if (!is_fault(signal, info))
        mt_os_signal_thread(signal);
    else if (mt_os_signal_thread_again(signal, info) < 0 && signal == SIGTRAP)
        mt_os_signal_thread(signal); /* a trap is over when it is raised */
}

/* Without a signal stack, the kernel runs nobody's handler where a stack has ended. */
static const struct mt_os_action *action_after(int signal) {
    static const struct mt_os_action standard;
    bool has_no_room = mt_tls.stack_end != 0 && mt_fault_stack_is(mt_os_signal_stack());
    return has_no_room ? &standard : &g_before[signal];
}

/* What is to be known of it, as far as the thread can look. */
static void note(int signal, siginfo_t *info, void *context) {
    uintptr_t address = 0;
    if (is_fault(signal, info)) {
        mt_fault_stack_look(mt_registers_sp(context));
        address = (uintptr_t)info->si_addr;
        mt_heap_checks_at_fault(signal, address, context);
    }
    mt_crash_note_signal(signal, info->si_code, address, context);
    mt_heap_checks_at_end();
    mt_trace_file_end(MT_END_SIGNAL, signal);
    struct mt_snapshot_request request = {.reason = MT_SNAPSHOT_AT_SIGNAL,
                                          .detail = signal,
                                          .name = "",
                                          .is_end = true,
                                          .is_final = g_before[signal].handler == NULL};
    mt_snapshot_take_amid(&request, context);
    mt_open_chunks_check();
}

/* Then the signal does what it would have done. A foreign thread can only say that it has come. */
static void on_ending(int signal, siginfo_t *info, void *context) {
    bool is_foreign = mt_thread_is_foreign();
    if (mt_recording_owns_trace() && !has_taken_one(signal)) {
        if (is_foreign)
            mt_trace_file_end(MT_END_SIGNAL, signal);
        else
            note(signal, info, context);
    }
    /* A fault would come again for ever. */
    if (mt_os_action(signal, is_foreign ? &g_before[signal] : action_after(signal), NULL) < 0)
        mt_os_exit_group(128 + signal);
    send_again(signal, info);
}

/* The Swift runtime's, which prints a backtrace of the crash and ends the process: it gets the
 * signal afterwards, as its own. */
static bool is_backtracer(const struct mt_os_action *action) {
    uintptr_t start, end, handler = (uintptr_t)action->handler;
    return mt_image_map_find_image("libswiftCore", &start, &end) && handler >= start &&
           handler < end;
}

void mt_ending_signals_begin(void) {
    struct mt_os_action action = mt_os_handler(on_ending);
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
        int signal = ending_signals[i];
        struct mt_os_action before;
        if (mt_os_action(signal, NULL, &before) < 0 || (before.handler && !is_backtracer(&before)))
            continue;
        g_before[signal] = before;
        g_taken |= (uint64_t)1 << signal;
        mt_os_action(signal, &action, NULL);
    }
    mt_fault_stacks_begin();
}

void mt_ending_signals_leave(void) {
    g_taken = 0;
    mt_fault_stacks_end();
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
        int signal = ending_signals[i];
        struct mt_os_action action;
        if (mt_os_action(signal, NULL, &action) == 0 && action.handler == on_ending)
            mt_os_action(signal, &g_before[signal], NULL);
    }
}

bool mt_ending_signals_are_handled_by(void (*handler)(int, siginfo_t *, void *)) {
    return handler == on_ending;
}

static bool is_taken(int signal) {
    return signal > 0 && signal <= HIGHEST_ENDING && g_taken >> signal & 1;
}

bool mt_ending_signals_stand_in(int signal, const void *handler, struct sigaction *ours) {
    if (!is_taken(signal) || handler != (const void *)(uintptr_t)g_before[signal].handler)
        return false;
    *ours = (struct sigaction){.sa_sigaction = on_ending,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    memset(&ours->sa_mask, 0xff, sizeof ours->sa_mask);
    return true;
}

void mt_ending_signals_hide(int signal, struct sigaction *action) {
    if (!is_taken(signal) || action->sa_sigaction != on_ending)
        return;
    const struct mt_os_action *before = &g_before[signal];
    *action = (struct sigaction){.sa_sigaction = before->handler,
                                 .sa_flags = (int)before->flags,
                                 .sa_restorer = before->restorer};
    memcpy(&action->sa_mask, &before->mask, sizeof before->mask);
}
