/* The registers of an interrupted thread, in the order of struct mt_snapshot_thread. */
#ifndef MT_REGISTERS_H
#define MT_REGISTERS_H

#include "base/os.h"
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
enum { MT_GENERAL_REGISTERS = 16 };
#else
enum { MT_GENERAL_REGISTERS = 32 };
#endif

struct mt_registers {
    uint64_t sp, pc;
    struct mt_signal_stack signal_stack;
    /* A system call was interrupted that fails with EINTR when the thread goes on, or, as park.c
     * says, returns before it is done. */
    uint32_t is_waiting;
    /* One was interrupted, however it goes on. */
    uint32_t is_in_call;
    /* None was, or one that had done what it was to do: the thread runs, or is to. */
    uint32_t is_running;
    uint64_t values[MT_GENERAL_REGISTERS];
    /* Where the kernel keeps the others until the handler returns, see vector_registers.h. */
    const void *vectors;
};

/* What a fault was about to do: enum mt_access_kind of memtrace_format.h.
 *
 * context  third argument of the handler of SIGSEGV or SIGBUS */
uint32_t mt_registers_access(const void *context);

/* The stack pointer alone, for who has to ask before anything else. */
uintptr_t mt_registers_sp(const void *context);

/* With the signal stack that the thread has set up.
 *
 * context  third argument of a signal handler */
void mt_registers_read(struct mt_registers *registers, const void *context);

/* Whether the thread waits for a futex, and would not when it goes on: the kernel makes the call
 * anew, and the word is not what it was, or gone. */
bool mt_registers_would_wake(const struct mt_registers *registers);

#endif
