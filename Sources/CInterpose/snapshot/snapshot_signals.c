/* See snapshot_signals.h. */
#define _GNU_SOURCE
#include "snapshot/snapshot_signals.h"

#include "base/os_threads.h"
#include "process/recording.h"
#include "snapshot/registers.h"
#include "snapshot/resume.h"
#include "snapshot/snapshot.h"
#include "trace/trace_file.h"
#include <string.h>

enum { LOWEST_SIGNAL = 36, HIGHEST_SIGNAL = 63 };

/* What ends a process unless it is handled. */
static const int ending_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,
                                     SIGABRT, SIGBUS,  SIGFPE,  SIGSEGV, SIGPIPE,
                                     SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGSYS};

static int g_request_signal; /* 0: none */

/* Takes what is asked for, with the registers of the interrupted code.
 * returns  as mt_snapshot_take */
static long take(struct mt_snapshot_request *request, void *context) {
    struct mt_registers registers;
    mt_registers_read(&registers, context);
    request->caller = (struct mt_frame){.pc = registers.pc, .sp = registers.sp};
    request->registers = registers.values;
    request->register_count = registers.count;
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
    mt_resume_call(context);
}

/* Then the signal does what it would have done: what was raised by the processor comes again when
 * the handler returns, other signals are sent once more. */
static void on_ending(int signal, siginfo_t *info, void *context) {
    struct mt_os_action default_action = {0};
    bool is_known = signal == SIGABRT && mt_trace_file.header &&
                    mt_trace_file.header->end_kind == MT_END_ABORT; /* abort() took one */
    if (mt_recording_owns_trace() && !is_known) {
        mt_trace_file_end(MT_END_SIGNAL, signal);
        struct mt_snapshot_request request = {.reason = MT_SNAPSHOT_AT_SIGNAL,
                                              .detail = signal,
                                              .name = "",
                                              .is_end = true,
                                              .is_final = true};
        take(&request, context);
    }
    mt_os_action(signal, &default_action, NULL);
    bool comes_again = info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS ||
                                             signal == SIGILL || signal == SIGFPE);
    if (!comes_again)
        mt_os_signal_thread(signal);
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

static void handle_requests(void) {
    struct mt_os_action action = mt_os_handler(on_request);
    for (int signal = HIGHEST_SIGNAL; signal >= LOWEST_SIGNAL; signal--)
        if (is_default(signal) && mt_os_action(signal, &action, NULL) == 0) {
            g_request_signal = signal;
            return;
        }
}

static void announce(void) {
    if (!g_request_signal)
        return;
    mt_trace_file.header->snapshot_signal = (uint32_t)g_request_signal;
    if (mt_config.snapshot_interval)
        mt_os_start_timer(g_request_signal, mt_config.snapshot_interval);
}

void mt_snapshot_signals_begin(void) {
    if (mt_config.snapshot_on_request || mt_config.snapshot_interval)
        handle_requests();
    announce();
    if (!mt_config.snapshot_on_crash)
        return;
    struct mt_os_action action = mt_os_handler(on_ending);
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
        if (is_default(ending_signals[i]))
            mt_os_action(ending_signals[i], &action, NULL);
}

void mt_snapshot_signals_after_fork(void) {
    announce();
}
