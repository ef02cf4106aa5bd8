/* Lets a stopped thread make calls. See cattach.h.
 *
 * A function that was called returns into an instruction that makes a system call: the stop at its
 * entry tells that it has returned, and the call is left out. So no signal is needed, for which the
 * process may have handlers or none, and nothing of its code is written to. */
#define _GNU_SOURCE
#include "cattach.h"
#include "registers.h"
#include "thread.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { LONGEST_CALL_MS = 30 * 1000, LARGEST_STATE = 16384 };

#if defined(__x86_64__)
enum { FLOATING_STATE = NT_X86_XSTATE };
#else
enum { FLOATING_STATE = NT_PRFPREG };
#endif

struct cattach_calls {
    pid_t pid, tid;
    uint64_t instruction;
    struct registers registers;
    uint64_t mask;
    size_t floating_size;
    int held_back; /* a stop of the whole process that came meanwhile, for the end */
    bool has_run;  /* it is no longer in the stop in which its registers were read */
    uint8_t floating[LARGEST_STATE];
};

/* What the processor raises comes through: held back, the kernel would take the host's handler of
 * it away (force_sig_info in kernel/signal.c). */
static uint64_t held_signals(void) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    uint64_t mask = ~(uint64_t)0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        mask &= ~((uint64_t)1 << (faults[i] - 1));
    return mask;
}

static int write_mask(const struct cattach_calls *calls, uint64_t mask) {
    return ptrace(PTRACE_SETSIGMASK, calls->tid, (void *)sizeof mask, &mask) < 0 ? errno : 0;
}

static int read_state(struct cattach_calls *calls) {
    struct iovec floating = {calls->floating, sizeof calls->floating};
    if (ptrace(PTRACE_GETREGSET, calls->tid, (void *)(uintptr_t)FLOATING_STATE, &floating) < 0 ||
        ptrace(PTRACE_GETSIGMASK, calls->tid, (void *)sizeof calls->mask, &calls->mask) < 0)
        return errno;
    calls->floating_size = floating.iov_len;
    return registers_read(calls->tid, &calls->registers);
}

struct cattach_calls *cattach_calls_begin(pid_t pid, pid_t tid, uint64_t instruction, int *error) {
    struct cattach_calls *calls = calloc(1, sizeof *calls);
    *error = ENOMEM;
    if (!calls)
        return NULL;
    calls->pid = pid;
    calls->tid = tid;
    calls->instruction = instruction;
    *error = read_state(calls);
    if (!*error)
        *error = write_mask(calls, held_signals());
    if (!*error)
        return calls;
    free(calls);
    return NULL;
}

/* Lets the thread run to where it enters or leaves a system call. */
static int run_to_system_call(struct cattach_calls *calls) {
    calls->has_run = true;
    for (;;) {
        int error = thread_continue(calls->tid, true, 0);
        if (error)
            return error;
        struct stop stop = thread_wait(calls->tid, LONGEST_CALL_MS);
        if (stop.kind == STOP_SYSTEM_CALL)
            return 0;
        if (stop.kind == STOP_ENDED)
            return ESRCH;
        if (stop.kind == STOP_NONE)
            return ETIMEDOUT;
        if (stop.kind == STOP_SIGNAL && stop.signal != SIGSTOP)
            return EFAULT; /* all others are held back */
        if (stop.kind == STOP_SIGNAL)
            calls->held_back = stop.signal;
    }
}

int cattach_system_call(struct cattach_calls *calls, long number, const uint64_t *arguments,
                        int64_t *result) {
    struct registers registers = calls->registers;
    registers_set_system_call(&registers, calls->instruction, number, arguments);
    int error = registers_write(calls->tid, &registers);
    if (!error)
        error = run_to_system_call(calls);
    if (!error)
        error = run_to_system_call(calls);
    if (!error)
        error = registers_read(calls->tid, &registers);
    *result = registers_result(&registers);
    return error;
}

static int begin_call(struct cattach_calls *calls, uint64_t function, const uint64_t *arguments,
                      uint64_t *stack) {
    struct registers registers = calls->registers;
#if defined(__x86_64__)
    *stack -= sizeof(uint64_t);
    int error = cattach_write(calls->pid, *stack, &calls->instruction, sizeof calls->instruction);
    if (error)
        return error;
#endif
    registers_set_call(&registers, function, arguments, *stack, calls->instruction);
    return registers_write(calls->tid, &registers);
}

/* At the entry of a system call: whether it is the one that the function has returned into. */
static bool has_returned(const struct cattach_calls *calls, const struct registers *registers,
                         uint64_t stack) {
    size_t size;
    cattach_instruction(&size);
    return registers_pc(registers) == calls->instruction + size && registers_sp(registers) == stack;
}

int cattach_call(struct cattach_calls *calls, uint64_t function, const uint64_t *arguments,
                 uint64_t stack, uint64_t *result) {
    uint64_t top = stack;
    int error = begin_call(calls, function, arguments, &stack);
    while (!error) {
        struct registers registers;
        error = run_to_system_call(calls);
        if (!error)
            error = registers_read(calls->tid, &registers);
        if (error)
            break;
        if (has_returned(calls, &registers, top)) {
            *result = registers_returned(&registers);
            registers_skip_system_call(&registers);
            error = registers_write(calls->tid, &registers);
            return error ? error : run_to_system_call(calls);
        }
        error = run_to_system_call(calls);
    }
    return error;
}

/* Brings the thread into a stop like the one in which its registers were read: only there the
 * kernel looks whether a system call was ended early and is to be made again. */
static int stop_again(struct cattach_calls *calls) {
    if (ptrace(PTRACE_INTERRUPT, calls->tid, NULL, NULL) < 0)
        return errno;
    for (;;) {
        int error = thread_continue(calls->tid, false, 0);
        /* It runs still: a call that has not returned in time. */
        if (error && error != ESRCH)
            return error;
        struct stop stop = thread_wait(calls->tid, LONGEST_CALL_MS);
        if (stop.kind == STOP_ASKED)
            return 0;
        if (stop.kind == STOP_ENDED || stop.kind == STOP_NONE)
            return ESRCH;
    }
}

int cattach_calls_end(struct cattach_calls *calls) {
    int error = calls->has_run ? stop_again(calls) : 0;
    struct iovec floating = {calls->floating, calls->floating_size};
    if (!error)
        error = registers_write(calls->tid, &calls->registers);
    if (!error &&
        ptrace(PTRACE_SETREGSET, calls->tid, (void *)(uintptr_t)FLOATING_STATE, &floating) < 0)
        error = errno;
    if (!error)
        error = write_mask(calls, calls->mask);
    if (calls->held_back)
        kill(calls->pid, calls->held_back);
    free(calls);
    return error;
}
