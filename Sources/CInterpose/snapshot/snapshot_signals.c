/* See snapshot_signals.h. */
#define _GNU_SOURCE
#include "snapshot/snapshot_signals.h"

#include "base/os_threads.h"
#include "base/registers.h"
#include "base/tls.h"
#include "checks/heap_checks.h"
#include "events/crash.h"
#include "events/fault_stack.h"
#include "events/open_chunks.h"
#include "loader/image_map.h"
#include "process/recording.h"
#include "snapshot/park.h"
#include "snapshot/resume.h"
#include "snapshot/signal_stacks.h"
#include "snapshot/snapshot.h"
#include "trace/trace_file.h"
#include <string.h>

enum { LOWEST_SIGNAL = 36, HIGHEST_SIGNAL = 63 };

/* What ends a process unless it is handled. */
static const int ending_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,
                                     SIGABRT, SIGBUS,  SIGFPE,  SIGSEGV, SIGPIPE,
                                     SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGSYS};

static int g_request_signal; /* 0: none */

/* What on_ending has taken the place of: most often the default. */
static struct mt_os_action g_before[HIGHEST_SIGNAL];

/* Takes what is asked for, with the registers of the interrupted code.
 * returns  as mt_snapshot_take */
static long take(struct mt_snapshot_request *request, void *context) {
    struct mt_registers registers;
    mt_registers_read(&registers, context);
    request->caller = (struct mt_frame){.pc = registers.pc, .sp = mt_fault_stack_top(registers.sp)};
    request->registers = registers.values;
    request->vectors = registers.vectors;
    request->is_in_call = registers.is_in_call;
    request->is_interrupted = true;
    return mt_snapshot_take(request);
}

/* Somebody has written a name into the header, and sends its number with the signal. One that is
 * not (or no longer) asked for is passed over: the signal was sent more than once. */
static void take_asked(uint32_t number, void *context) {
    /* Where the image is written the header is mapped elsewhere; the stack may be a small one. */
    static char name[MT_ASKED_NAME_SIZE];
    struct mt_file_header *header = mt_trace_file.header;
    if (number == 0 || __atomic_load_n(&header->asked, __ATOMIC_ACQUIRE) != number)
        return;
    uint32_t length = header->asked_length;
    struct mt_snapshot_request request = {
        .reason = MT_SNAPSHOT_AT_MARK,
        .name = name,
        .name_length = length < MT_ASKED_NAME_SIZE ? length : MT_ASKED_NAME_SIZE};
    memcpy(name, header->asked_name, request.name_length);
    if (take(&request, context) < 0)
        return;
    header->asked_snapshot = request.number;
    __atomic_compare_exchange_n(&header->asked, &number, 0, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}

static void on_request(int signal, siginfo_t *info, void *context) {
    (void)signal;
    struct mt_snapshot_request request = {
        .reason = info->si_code == SI_TIMER ? MT_SNAPSHOT_INTERVAL : MT_SNAPSHOT_ON_REQUEST,
        .name = ""};
    if (mt_recording_owns_trace()) {
        if (info->si_code == SI_QUEUE)
            take_asked((uint32_t)info->si_value.sival_int, context);
        else
            take(&request, context);
    }
    mt_resume_call(context, NULL);
}

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

/* Then the signal does what it would have done. */
static void on_ending(int signal, siginfo_t *info, void *context) {
    if (mt_recording_owns_trace() && !has_taken_one(signal)) {
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
        take(&request, context);
        mt_open_chunks_check();
    }
    /* A fault would come again for ever. */
    if (mt_os_action(signal, action_after(signal), NULL) < 0)
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

static void handle_endings(void) {
    struct mt_os_action action = mt_os_handler(on_ending);
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
        int signal = ending_signals[i];
        struct mt_os_action before;
        if (mt_os_action(signal, NULL, &before) < 0 || (before.handler && !is_backtracer(&before)))
            continue;
        g_before[signal] = before;
        mt_os_action(signal, &action, NULL);
    }
    mt_fault_stacks_begin();
}

void mt_snapshot_signals_leave(void) {
    mt_fault_stacks_end();
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
        int signal = ending_signals[i];
        struct mt_os_action action;
        if (mt_os_action(signal, NULL, &action) == 0 && action.handler == on_ending)
            mt_os_action(signal, &g_before[signal], NULL);
    }
}

static bool is_default(int signal) {
    struct mt_os_action action;
    return mt_os_action(signal, NULL, &action) == 0 && action.handler == NULL;
}

bool mt_snapshot_signals_host_handles(int signal) {
    struct mt_os_action action;
    return mt_os_action(signal, NULL, &action) == 0 && action.handler != NULL &&
           action.handler != MT_SIGNAL_IGNORED && action.handler != on_ending;
}

static bool is_of_threads(int signal) {
    switch (signal) {
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGSEGV:
    case SIGPIPE:
    case SIGXFSZ:
    case SIGSYS:
    case SIGHUP:
    case SIGINT:
    case SIGQUIT:
    case SIGTERM:
        return false;
    default:
        return mt_snapshot_signals_host_handles(signal);
    }
}

uint64_t mt_snapshot_signals_of_threads(void) {
    enum { LAST_SIGNAL = 64 };
    uint64_t signals = 0;
    for (int signal = 1; signal <= LAST_SIGNAL; signal++)
        if (is_of_threads(signal))
            signals |= (uint64_t)1 << (signal - 1);
    return signals;
}

/* By the highest signal up to this one that nobody handles. */
static void handle_requests(int highest) {
    struct mt_os_action action = mt_signal_stacks_handler(on_request);
    g_request_signal = 0;
    for (int signal = highest; signal >= LOWEST_SIGNAL; signal--)
        if (is_default(signal) && mt_os_action(signal, &action, NULL) == 0) {
            g_request_signal = signal;
            return;
        }
}

void mt_snapshot_signals_leave_stacks(void) {
    struct mt_os_action action = mt_signal_stacks_handler(on_request), before;
    if (g_request_signal && mt_os_action(g_request_signal, NULL, &before) == 0 &&
        before.handler == on_request)
        mt_os_action(g_request_signal, &action, NULL);
    mt_park_leave_signal_stacks();
}

uint64_t mt_snapshot_signals_requests(void) {
    return g_request_signal ? (uint64_t)1 << (g_request_signal - 1) : 0;
}

static void announce(void) {
    if (!g_request_signal)
        return;
    mt_trace_file.header->snapshot_signal = (uint32_t)g_request_signal;
    if (mt_config.snapshot_interval)
        mt_os_start_timer(g_request_signal, mt_config.snapshot_interval);
}

/* One that has come already, and is held back, is thrown away where the signal is ignored. */
void mt_snapshot_signals_yield(void) {
    struct mt_os_action ignored = {.handler = MT_SIGNAL_IGNORED}, standard = {.handler = NULL};
    int signal = g_request_signal;
    mt_trace_file.header->snapshot_signal = 0;
    if (mt_config.snapshot_interval)
        mt_os_stop_timer();
    mt_os_action(signal, &ignored, NULL);
    mt_os_action(signal, &standard, NULL);
    handle_requests(signal - 1);
    announce();
}

void mt_snapshot_signals_begin(void) {
    if (mt_config.snapshot_on_request || mt_config.snapshot_interval)
        handle_requests(HIGHEST_SIGNAL);
    announce();
    if (mt_config.snapshot_on_crash)
        handle_endings();
}

void mt_snapshot_signals_after_fork(void) {
    announce();
}
