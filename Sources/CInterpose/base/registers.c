/* See registers.h. */
#define _GNU_SOURCE
#include "base/registers.h"

#include "memtrace_format.h"
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* What sigaltstack would say, without asking the kernel. */
static struct mt_signal_stack signal_stack(const void *context) {
    const stack_t *stack = &((const ucontext_t *)context)->uc_stack;
    if (stack->ss_flags & SS_DISABLE)
        return (struct mt_signal_stack){0, 0};
    return (struct mt_signal_stack){(uint64_t)stack->ss_sp, stack->ss_size};
}

static bool is_readable(uint64_t address) {
    return mt_os_is_readable(address & ~(uint64_t)7);
}

#if defined(__x86_64__)
static const uint8_t system_call[2] = {0x0f, 0x05};
#else
static const uint8_t system_call[4] = {0x01, 0x00, 0x00, 0xd4};
#endif

/* There may be nothing to read: the program has called an address that is none, or runs where a
 * mapping begins. The kernel makes a call anew by going back to it. */
static bool is_system_call(uint64_t pc) {
    return mt_os_holds(pc, system_call, sizeof system_call);
}

uintptr_t mt_registers_sp(const void *context) {
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    return (uintptr_t)machine->gregs[REG_RSP];
#else
    return machine->sp;
#endif
}

#if defined(__x86_64__)

void mt_registers_read(struct mt_registers *registers, const void *context) {
    static const int order[MT_GENERAL_REGISTERS] = {
        REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    for (int i = 0; i < MT_GENERAL_REGISTERS; i++)
        registers->values[i] = (uint64_t)machine->gregs[order[i]];
    registers->vectors = machine->fpregs;
    registers->signal_stack = signal_stack(context);
    registers->sp = mt_registers_sp(context);
    registers->pc = (uint64_t)machine->gregs[REG_RIP];
    bool is_after_call = is_system_call(registers->pc - sizeof system_call);
    registers->is_waiting = machine->gregs[REG_RAX] == -EINTR && is_after_call;
    bool is_before_call = is_system_call(registers->pc);
    registers->is_in_call = is_after_call || is_before_call;
    registers->is_running = !registers->is_waiting && !is_before_call;
}

/* Where mt_registers_read() puts the number of a call that is made anew, and its arguments. */
enum { NUMBER = 0, WORD = 5, OPERATION = 4, EXPECTED = 3 };

/* Bits of a page fault's error code (Intel SDM 3A 4.7, "Page-Fault Exceptions"). */
uint32_t mt_registers_access(const void *context) {
    enum { PAGE_FAULT = 14, IS_WRITE = 1 << 1, IS_FETCH = 1 << 4 };
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    uint64_t code = (uint64_t)machine->gregs[REG_ERR];
    if (machine->gregs[REG_TRAPNO] != PAGE_FAULT)
        return MT_ACCESS_UNKNOWN;
    if (code & IS_FETCH)
        return MT_ACCESS_EXECUTE;
    return code & IS_WRITE ? MT_ACCESS_WRITE : MT_ACCESS_READ;
}
#else
enum { NUMBER = 8, WORD = 0, OPERATION = 1, EXPECTED = 2 };

void mt_registers_read(struct mt_registers *registers, const void *context) {
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    memcpy(registers->values, machine->regs, 31 * 8);
    registers->signal_stack = signal_stack(context);
    registers->values[31] = registers->sp = mt_registers_sp(context);
    registers->vectors = machine->__reserved;
    registers->pc = machine->pc;
    registers->is_waiting =
        (int64_t)machine->regs[0] == -EINTR && is_system_call(registers->pc - sizeof system_call);
    registers->is_in_call = registers->is_waiting;
    registers->is_running = !registers->is_waiting && !is_system_call(registers->pc);
}

/* The syndrome register lies among the records behind the registers (arch/arm64/include/uapi/asm/
 * sigcontext.h); its exception class and WnR bit are those of the Arm ARM, D24.2.40, "ESR_EL1". */
static bool find_syndrome(const mcontext_t *machine, uint64_t *syndrome) {
    enum { MAGIC = 0x45535201, HEADER = 8 };
    const uint8_t *at = (const uint8_t *)machine->__reserved;
    const uint8_t *end = at + sizeof machine->__reserved;
    while (at + HEADER + sizeof *syndrome <= end) {
        uint32_t header[2]; /* magic, bytes of the record */
        memcpy(header, at, sizeof header);
        if (header[0] == MAGIC) {
            memcpy(syndrome, at + HEADER, sizeof *syndrome);
            return true;
        }
        if (header[0] == 0 || header[1] < HEADER || header[1] > (size_t)(end - at))
            return false;
        at += header[1];
    }
    return false;
}

uint32_t mt_registers_access(const void *context) {
    enum { FETCH_BELOW = 0x20, FETCH = 0x21, DATA_BELOW = 0x24, DATA = 0x25, IS_WRITE = 1 << 6 };
    uint64_t syndrome;
    if (!find_syndrome(&((const ucontext_t *)context)->uc_mcontext, &syndrome))
        return MT_ACCESS_UNKNOWN;
    uint64_t class = syndrome >> 26 & 0x3f;
    if (class == FETCH || class == FETCH_BELOW)
        return MT_ACCESS_EXECUTE;
    if (class != DATA && class != DATA_BELOW)
        return MT_ACCESS_UNKNOWN;
    return syndrome & IS_WRITE ? MT_ACCESS_WRITE : MT_ACCESS_READ;
}
#endif

static bool is_wait(uint64_t operation) {
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
        return true;
    default:
        return false;
    }
}

/* Whether a wait for this word, as long as it has this value, would end at once. */
static bool has_changed(uint64_t word, uint32_t expected) {
    return !is_readable(word) ||
           __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED) != expected;
}

/* One of those that futex_waitv() waits for: struct futex_waitv of <linux/futex.h> since
 * Linux 5.16. All of its words have 32 bits. */
struct waited_word {
    uint64_t value, word;
    uint32_t flags, reserved;
};

/* Of futex_waitv(), which waits for several words. */
static bool would_wake_one(uint64_t first, uint64_t count) {
    enum { MOST = 128 };
    for (uint64_t i = 0; i < count && i < MOST; i++) {
        struct waited_word waited;
        uint64_t at = first + i * sizeof waited;
        if (!is_readable(at) || !is_readable(at + sizeof waited - 1))
            return true;
        memcpy(&waited, (const void *)at, sizeof waited);
        if (has_changed(waited.word, (uint32_t)waited.value))
            return true;
    }
    return false;
}

bool mt_registers_would_wake(const struct mt_registers *registers) {
    enum { SYS_FUTEX_WAITV = 449 }; /* of all architectures */
    const uint64_t *values = registers->values;
    if (!is_system_call(registers->pc))
        return false;
    if (values[NUMBER] == SYS_FUTEX_WAITV)
        return would_wake_one(values[WORD], values[OPERATION]);
    return values[NUMBER] == SYS_futex && is_wait(values[OPERATION]) &&
           has_changed(values[WORD], (uint32_t)values[EXPECTED]);
}
