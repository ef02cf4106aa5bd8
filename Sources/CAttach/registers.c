/* See registers.h. */
#define _GNU_SOURCE
#include "registers.h"

#include "cattach.h"
#include <elf.h>
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

const long cattach_number_mmap = SYS_mmap, cattach_number_munmap = SYS_munmap,
           cattach_number_close = SYS_close, cattach_number_memfd_create = SYS_memfd_create;

static int transfer(int request, pid_t tid, int set, void *bytes, size_t size) {
    struct iovec vector = {bytes, size};
    return ptrace(request, tid, (void *)(uintptr_t)set, &vector) < 0 ? errno : 0;
}

#if defined(__x86_64__)

static const uint8_t instruction_bytes[] = {0x0f, 0x05};

enum { DIRECTION = 0x400, TRAP = 0x100 };

int registers_read(pid_t tid, struct registers *registers) {
    return transfer(PTRACE_GETREGSET, tid, NT_PRSTATUS, &registers->values,
                    sizeof registers->values);
}

int registers_write(pid_t tid, const struct registers *registers) {
    struct user_regs_struct values = registers->values;
    return transfer(PTRACE_SETREGSET, tid, NT_PRSTATUS, &values, sizeof values);
}

void registers_set_system_call(struct registers *registers, uint64_t instruction, long number,
                               const uint64_t *arguments) {
    struct user_regs_struct *values = &registers->values;
    values->rip = instruction;
    values->rax = (uint64_t)number;
    values->orig_rax = (uint64_t)-1;
    values->rdi = arguments[0];
    values->rsi = arguments[1];
    values->rdx = arguments[2];
    values->r10 = arguments[3];
    values->r8 = arguments[4];
    values->r9 = arguments[5];
}

void registers_set_call(struct registers *registers, uint64_t function, const uint64_t *arguments,
                        uint64_t stack, uint64_t return_address) {
    struct user_regs_struct *values = &registers->values;
    (void)return_address; /* on the stack */
    values->rip = function;
    values->rsp = stack;
    values->rbp = 0;
    values->rax = 0;
    values->orig_rax = (uint64_t)-1;
    values->rdi = arguments[0];
    values->rsi = arguments[1];
    values->rdx = arguments[2];
    values->eflags &= ~(uint64_t)(DIRECTION | TRAP);
}

void registers_skip_system_call(struct registers *registers) {
    registers->values.orig_rax = (uint64_t)-1;
}

uint64_t registers_pc(const struct registers *registers) {
    return registers->values.rip;
}

uint64_t registers_sp(const struct registers *registers) {
    return registers->values.rsp;
}

int64_t registers_result(const struct registers *registers) {
    return (int64_t)registers->values.rax;
}

uint64_t registers_returned(const struct registers *registers) {
    return registers->values.orig_rax;
}

/* Those that do nothing before they wait, and that the kernel does not make again by itself after
 * a stop: signal(7), "Interruption of system calls and library functions by stop signals". */
static bool may_repeat(long number) {
    static const long numbers[] = {SYS_epoll_wait,   SYS_epoll_pwait, 441 /* epoll_pwait2 */,
                                   SYS_semop,        SYS_semtimedop,  SYS_rt_sigtimedwait,
                                   SYS_io_getevents, SYS_read,        SYS_recvfrom,
                                   SYS_recvmsg,      SYS_accept,      SYS_accept4};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

bool registers_repeat_system_call(struct registers *registers) {
    struct user_regs_struct *values = &registers->values;
    if ((int64_t)values->rax != -EINTR || !may_repeat((long)values->orig_rax))
        return false;
    values->rax = values->orig_rax;
    values->orig_rax = (uint64_t)-1;
    values->rip -= sizeof instruction_bytes;
    return true;
}

#else

static const uint8_t instruction_bytes[] = {0x01, 0x00, 0x00, 0xd4};

enum { NUMBER = 8, LINK = 30 };

int registers_read(pid_t tid, struct registers *registers) {
    int error =
        transfer(PTRACE_GETREGSET, tid, NT_PRSTATUS, &registers->values, sizeof registers->values);
    return error ? error
                 : transfer(PTRACE_GETREGSET, tid, NT_ARM_SYSTEM_CALL, &registers->system_call,
                            sizeof registers->system_call);
}

int registers_write(pid_t tid, const struct registers *registers) {
    struct user_regs_struct values = registers->values;
    int number = registers->system_call;
    int error = transfer(PTRACE_SETREGSET, tid, NT_PRSTATUS, &values, sizeof values);
    return error ? error
                 : transfer(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &number, sizeof number);
}

void registers_set_system_call(struct registers *registers, uint64_t instruction, long number,
                               const uint64_t *arguments) {
    registers->values.pc = instruction;
    registers->values.regs[NUMBER] = (uint64_t)number;
    registers->system_call = -1;
    for (int i = 0; i < 6; i++)
        registers->values.regs[i] = arguments[i];
}

void registers_set_call(struct registers *registers, uint64_t function, const uint64_t *arguments,
                        uint64_t stack, uint64_t return_address) {
    registers->values.pc = function;
    registers->values.sp = stack;
    registers->values.regs[LINK] = return_address;
    registers->system_call = -1;
    for (int i = 0; i < 3; i++)
        registers->values.regs[i] = arguments[i];
}

void registers_skip_system_call(struct registers *registers) {
    registers->system_call = -1;
}

uint64_t registers_pc(const struct registers *registers) {
    return registers->values.pc;
}

uint64_t registers_sp(const struct registers *registers) {
    return registers->values.sp;
}

int64_t registers_result(const struct registers *registers) {
    return (int64_t)registers->values.regs[0];
}

uint64_t registers_returned(const struct registers *registers) {
    return registers->values.regs[0];
}

/* The first argument is gone: the result is in its register. */
bool registers_repeat_system_call(struct registers *registers) {
    (void)registers;
    return false;
}

#endif

const uint8_t *cattach_instruction(size_t *size) {
    *size = sizeof instruction_bytes;
    return instruction_bytes;
}
