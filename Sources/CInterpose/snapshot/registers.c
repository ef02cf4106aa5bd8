/* See registers.h. */
#define _GNU_SOURCE
#include "snapshot/registers.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

/* What sigaltstack would say, without asking the kernel. */
static struct mt_signal_stack signal_stack(const void *context) {
    const stack_t *stack = &((const ucontext_t *)context)->uc_stack;
    if (stack->ss_flags & SS_DISABLE)
        return (struct mt_signal_stack){0, 0};
    return (struct mt_signal_stack){(uint64_t)stack->ss_sp, stack->ss_size};
}

#if defined(__x86_64__)
void mt_registers_read(struct mt_registers *registers, const void *context) {
    static const int order[MT_GENERAL_REGISTERS] = {
        REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    static const uint8_t syscall_code[2] = {0x0f, 0x05};
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    for (int i = 0; i < MT_GENERAL_REGISTERS; i++)
        registers->values[i] = (uint64_t)machine->gregs[order[i]];
    registers->count = MT_GENERAL_REGISTERS;
    if (machine->fpregs) {
        memcpy(registers->values + MT_GENERAL_REGISTERS, machine->fpregs->_xmm, 256);
        registers->count = MT_REGISTERS;
    }
    registers->signal_stack = signal_stack(context);
    registers->sp = (uint64_t)machine->gregs[REG_RSP];
    registers->pc = (uint64_t)machine->gregs[REG_RIP];
    registers->is_waiting =
        machine->gregs[REG_RAX] == -EINTR &&
        memcmp((const void *)(registers->pc - 2), syscall_code, sizeof syscall_code) == 0;
}
#else
void mt_registers_read(struct mt_registers *registers, const void *context) {
    static const uint8_t svc_code[4] = {0x01, 0x00, 0x00, 0xd4};
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    memcpy(registers->values, machine->regs, 31 * 8);
    registers->signal_stack = signal_stack(context);
    registers->values[31] = registers->sp = machine->sp;
    registers->count = MT_REGISTERS;
    registers->pc = machine->pc;
    registers->is_waiting =
        (int64_t)machine->regs[0] == -EINTR &&
        memcmp((const void *)(registers->pc - 4), svc_code, sizeof svc_code) == 0;
}
#endif
