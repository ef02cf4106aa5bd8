/* See snapshot_signals.h. */
#define _GNU_SOURCE
#include "snapshot/snapshot_signals.h"

#include "base/foreign_thread.h"
#include "base/os_threads.h"
#include "process/recording.h"
#include "snapshot/ending_signals.h"
#include "snapshot/park.h"
#include "snapshot/resume.h"
#include "snapshot/signal_stacks.h"
#include "snapshot/snapshot.h"
#include "trace/trace_file.h"
#include <string.h>

enum { LOWEST_SIGNAL = 36, HIGHEST_SIGNAL = 63 };

static int g_request_signal; /* 0: none */

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
    if (mt_snapshot_take_amid(&request, context) < 0)
        return;
    header->asked_snapshot = request.number;
    __atomic_compare_exchange_n(&header->asked, &number, 0, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}

/* A request that has reached a foreign thread is for the first one of the process, which takes it
 * as soon as it lets the signal through. */
static void pass_on(int signal, const siginfo_t *info) {
    long first = mt_os_pid();
    if (mt_os_tid() != first)
        mt_os_pass_signal((int)first, signal, info);
}

static void take(const siginfo_t *info, void *context) {
    struct mt_snapshot_request request = {
        .reason = info->si_code == SI_TIMER ? MT_SNAPSHOT_INTERVAL : MT_SNAPSHOT_ON_REQUEST,
        .name = ""};
    if (mt_recording_owns_trace()) {
        if (info->si_code == SI_QUEUE)
            take_asked((uint32_t)info->si_value.sival_int, context);
        else
            mt_snapshot_take_amid(&request, context);
    }
}

static void on_request(int signal, siginfo_t *info, void *context) {
    if (mt_thread_is_foreign())
        pass_on(signal, info);
    else
        take(info, context);
    mt_resume_call(context, NULL);
}

static bool is_default(int signal) {
    struct mt_os_action action;
    return mt_os_action(signal, NULL, &action) == 0 && action.handler == NULL;
}

bool mt_snapshot_signals_host_handles(int signal) {
    struct mt_os_action action;
    return mt_os_action(signal, NULL, &action) == 0 && action.handler != NULL &&
           action.handler != MT_SIGNAL_IGNORED && !mt_ending_signals_are_handled_by(action.handler);
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

/* False also where the host has set the signal since, which its hooks do not see everywhere. */
static bool requests_are_handled(void) {
    struct mt_os_action action;
    return g_request_signal && mt_os_action(g_request_signal, NULL, &action) == 0 &&
           action.handler == on_request;
}

void mt_snapshot_signals_leave_stacks(void) {
    struct mt_os_action action = mt_signal_stacks_handler(on_request);
    if (requests_are_handled())
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
static void give_back(void) {
    struct mt_os_action ignored = {.handler = MT_SIGNAL_IGNORED}, standard = {.handler = NULL};
    mt_trace_file.header->snapshot_signal = 0;
    if (mt_config.snapshot_interval)
        mt_os_stop_timer();
    mt_os_action(g_request_signal, &ignored, NULL);
    mt_os_action(g_request_signal, &standard, NULL);
}

void mt_snapshot_signals_yield(void) {
    give_back();
    handle_requests(g_request_signal - 1);
    announce();
}

void mt_snapshot_signals_leave(void) {
    if (g_request_signal)
        give_back();
    g_request_signal = 0;
}

void mt_snapshot_signals_begin(void) {
    mt_foreign_threads_begin();
    if (mt_config.snapshot_on_request || mt_config.snapshot_interval)
        handle_requests(HIGHEST_SIGNAL);
    announce();
    if (mt_config.snapshot_on_crash)
        mt_ending_signals_begin();
}

void mt_snapshot_signals_after_fork(void) {
    if (g_request_signal && !requests_are_handled())
        handle_requests(HIGHEST_SIGNAL);
    announce();
}
