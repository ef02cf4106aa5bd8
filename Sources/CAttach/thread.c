/* Stops threads and lets them go. See cattach.h and thread.h. */
#define _GNU_SOURCE
#include "thread.h"

#include "cattach.h"
#include "registers.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

enum { LONGEST_STOP_MS = 1000, STEP_NS = 200 * 1000, LONGEST_SPIN_NS = 1000 * 1000 };

/* PTRACE_EVENT_STOP; glibc's header has it as an enumerator since 2.27 only with _GNU_SOURCE. */
enum { EVENT_STOP = 128 };

/* ---- Memory ---- */

int cattach_read(pid_t pid, uint64_t address, void *bytes, size_t size) {
    struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)address, size};
    ssize_t count = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return count == (ssize_t)size ? 0 : count < 0 ? errno : EFAULT;
}

int cattach_write(pid_t pid, uint64_t address, const void *bytes, size_t size) {
    struct iovec here = {(void *)(uintptr_t)bytes, size},
                 there = {(void *)(uintptr_t)address, size};
    ssize_t count = process_vm_writev(pid, &here, 1, &there, 1, 0);
    return count == (ssize_t)size ? 0 : count < 0 ? errno : EFAULT;
}

/* ---- Waiting ---- */

static struct stop classify(int status) {
    struct stop stop = {STOP_ENDED, 0};
    if (!WIFSTOPPED(status))
        return stop;
    stop.signal = WSTOPSIG(status);
    if (status >> 16 == EVENT_STOP)
        stop.kind = STOP_ASKED;
    else if (stop.signal == (SIGTRAP | 0x80))
        stop.kind = STOP_SYSTEM_CALL;
    else
        stop.kind = STOP_SIGNAL;
    return stop;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct stop thread_wait(pid_t tid, int milliseconds) {
    uint64_t start = now_ns();
    do {
        int status = 0;
        pid_t found = waitpid(tid, &status, __WALL | WNOHANG);
        if (found == tid)
            return classify(status);
        if (found < 0 && errno != EINTR)
            return (struct stop){STOP_ENDED, 0};
        /* Most stops come within microseconds, and there are hundreds while the thread stands
         * still. */
        if (now_ns() - start < LONGEST_SPIN_NS)
            sched_yield();
        else
            nanosleep(&(struct timespec){0, STEP_NS}, NULL);
    } while (now_ns() - start < (uint64_t)milliseconds * 1000000u);
    return (struct stop){STOP_NONE, 0};
}

int thread_continue(pid_t tid, bool until_system_call, int signal) {
    int request = until_system_call ? PTRACE_SYSCALL : PTRACE_CONT;
    return ptrace(request, tid, NULL, (void *)(uintptr_t)signal) < 0 ? errno : 0;
}

/* ---- Stopping ---- */

int cattach_stop(pid_t tid) {
    if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD) < 0)
        return errno;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
        return errno;
    for (;;) {
        struct stop stop = thread_wait(tid, LONGEST_STOP_MS);
        if (stop.kind == STOP_ASKED)
            return 0;
        if (stop.kind == STOP_ENDED)
            return ESRCH;
        if (stop.kind == STOP_NONE)
            return EAGAIN;
        /* A signal of its own comes first. */
        thread_continue(tid, false, stop.kind == STOP_SIGNAL ? stop.signal : 0);
    }
}

/* A line of the thread's status: "NAME:\tHEX". */
static bool read_mask(FILE *file, const char *name, uint64_t *mask) {
    char line[256];
    rewind(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            return sscanf(line + strlen(name), ":%lx", mask) == 1;
    return false;
}

/* Then a system call has ended early for a reason of its own. */
static bool has_signal(pid_t pid, pid_t tid) {
    char path[64];
    uint64_t own = 0, shared = 0, blocked = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
    FILE *file = fopen(path, "re");
    bool is_known = file && read_mask(file, "SigPnd", &own) && read_mask(file, "ShdPnd", &shared) &&
                    read_mask(file, "SigBlk", &blocked);
    if (file)
        fclose(file);
    return !is_known || ((own | shared) & ~blocked) != 0;
}

void cattach_let_go(pid_t pid, pid_t tid) {
    struct registers registers;
    if (registers_read(tid, &registers) == 0 && !has_signal(pid, tid) &&
        registers_repeat_system_call(&registers))
        registers_write(tid, &registers);
    ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

bool cattach_let_go_late(pid_t pid, pid_t tid) {
    struct stop stop = thread_wait(tid, 0);
    if (stop.kind == STOP_ASKED)
        cattach_let_go(pid, tid);
    else if (stop.kind == STOP_SIGNAL || stop.kind == STOP_SYSTEM_CALL)
        thread_continue(tid, false, stop.kind == STOP_SIGNAL ? stop.signal : 0);
    return stop.kind == STOP_ASKED || stop.kind == STOP_ENDED;
}

bool cattach_is_unstoppable(pid_t pid, pid_t tid) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    FILE *file = fopen(path, "re");
    /* The name, in parentheses, may hold anything. */
    const char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (file)
        fclose(file);
    return end && end[1] == ' ' && end[2] == 'D';
}

bool cattach_is_writing(pid_t pid, pid_t tid) {
    char path[64];
    long number = -1;
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", pid, tid);
    FILE *file = fopen(path, "re");
    bool is_in_call = file && fscanf(file, "%ld", &number) == 1;
    if (file)
        fclose(file);
    return is_in_call && (number == SYS_write || number == SYS_writev || number == SYS_sendto ||
                          number == SYS_sendmsg);
}
