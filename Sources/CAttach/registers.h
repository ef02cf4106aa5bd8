/* The registers of a stopped thread, by processor. */
#ifndef CATTACH_REGISTERS_H
#define CATTACH_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>

struct registers {
    struct user_regs_struct values;
#if !defined(__x86_64__)
    int system_call; /* its number, or -1 */
#endif
};

/* returns  0, or the system's error number */
int registers_read(pid_t tid, struct registers *registers);
int registers_write(pid_t tid, const struct registers *registers);

/* Lets the thread make a system call with the instruction at an address.
 *
 * arguments  6 */
void registers_set_system_call(struct registers *registers, uint64_t instruction, long number,
                               const uint64_t *arguments);

/* Lets the thread call a function that returns to an address, and be in no system call.
 *
 * arguments  3
 * stack      where the return address is, or will be pushed by nobody (aarch64) */
void registers_set_call(struct registers *registers, uint64_t function, const uint64_t *arguments,
                        uint64_t stack, uint64_t return_address);

/* Lets the system call that the thread is about to make be none. */
void registers_skip_system_call(struct registers *registers);

uint64_t registers_pc(const struct registers *registers);
uint64_t registers_sp(const struct registers *registers);
/* What a system call has returned. */
int64_t registers_result(const struct registers *registers);
/* What a function has returned that returned into a system call instruction, before it is made. */
uint64_t registers_returned(const struct registers *registers);

/* Lets a system call that a stop has ended early be made again.
 * returns  false when there is none, or when it must not be */
bool registers_repeat_system_call(struct registers *registers);

#endif
