/* See call_number.h. */
#define _GNU_SOURCE
#include "snapshot/call_number.h"

#if defined(__x86_64__)

#    include "base/os.h"
#    include "base/text.h"
#    include "snapshot/noted_wait.h"
#    include "unwind/unwind_rules.h"
#    include <errno.h>
#    include <string.h>
#    include <ucontext.h>

/* ---- What a thread waits in ---- */

static bool take_number(const char **at, uint64_t *number) {
    if (!mt_text_has_prefix(*at, " 0x"))
        return false;
    *at += 3;
    *number = mt_text_take_hex(at);
    return true;
}

/* "NUMBER 0xARGUMENT ... 0xSP 0xPC"; "running" and a number of -1 are no call (proc(5)). */
static bool parse(struct mt_call *call, const char *at) {
    if (*at < '0' || *at > '9')
        return false;
    call->number = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        call->number = call->number * 10 + (uint32_t)(*at - '0');
    for (int i = 0; i < MT_CALL_ARGUMENTS; i++) {
        if (!take_number(&at, &call->arguments[i]))
            return false;
    }
    return take_number(&at, &call->sp) && take_number(&at, &call->pc);
}

void mt_call_see(struct mt_call *call, uint32_t tid) {
    static char line[256];
    char path[64];
    struct mt_text text = mt_text_begin(path, sizeof path);
    mt_text_add(&text, "/proc/self/task/");
    mt_text_add_number(&text, tid);
    mt_text_add(&text, "/syscall");
    if (mt_os_read_file(path, line, sizeof line) <= 0 || !parse(call, line))
        call->pc = 0;
}

/* ---- The code that has made a call ---- */

static bool is_before(uint64_t pc, const uint8_t *code, size_t size) {
    return memcmp((const void *)(pc - size), code, size) == 0;
}

static bool is_call(uint64_t pc) {
    static const uint8_t code[] = {0x0f, 0x05};
    return is_before(pc, code, sizeof code);
}

/* "mov $NUMBER, %eax", or "xor %eax, %eax" for read, which ends there. Behind other REX prefixes it
 * would be another register. */
static bool read_move(const uint8_t *end, uint32_t *number) {
    memcpy(number, end - sizeof *number, sizeof *number);
    if (end[-5] == 0xb8 && end[-6] != 0x41)
        return true;
    *number = 0;
    return end[-2] == 0x31 && end[-1] == 0xc0 && (end[-3] & 0xf0) != 0x40;
}

static bool is_argument(unsigned number_of_register) {
    enum { RDX = 2, RSI = 6, RDI = 7 };
    return number_of_register == RDX || number_of_register == RSI || number_of_register == RDI;
}

/* "mov OFFSET(%rsp), %edi", or from (%rbp), or to another argument: with which cancellation points
 * take their arguments up again. No number ends in a REX prefix.
 *
 * returns  its bytes; 0: it is none */
static size_t load_before(const uint8_t *end) {
    enum { LOAD = 0x8b, BY_SP = 0x44, SP_ONLY = 0x24, BY_FP = 0x45, FORM = 0xc7, REGISTER = 3 };
    size_t size = 0;
    if (end[-4] == LOAD && end[-2] == SP_ONLY && (end[-3] & FORM) == BY_SP)
        size = is_argument(end[-3] >> REGISTER & 7) ? 4 : 0;
    else if (end[-3] == LOAD && (end[-2] & FORM) == BY_FP)
        size = is_argument(end[-2] >> REGISTER & 7) ? 3 : 0;
    return size != 0 && *(end - size - 1) == 0x48 ? size + 1 : size;
}

/* "mov $NUMBER, %eax; syscall", where loads of three arguments may come between. */
static bool read_constant(uint64_t pc, uint32_t *number) {
    enum { LONGEST = 24, MOST_LOADS = 3 };
    if (pc % MT_PAGE_SIZE < LONGEST && !mt_os_is_readable(pc - LONGEST))
        return false;
    const uint8_t *code = (const uint8_t *)pc - 2;
    for (int loads = 0; loads <= MOST_LOADS; loads++) {
        if (read_move(code, number))
            return true;
        size_t load = load_before(code);
        if (load == 0)
            return false;
        code -= load;
    }
    return false;
}

/* syscall() itself has moved its arguments over the number; our hook has noted it. */
static bool read_noted(const struct mt_call *call, uint32_t *number) {
    static const uint8_t code[] = {0x4c, 0x8b, 0x4c, 0x24, 0x08, 0x0f, 0x05};
    if (!is_before(call->pc, code, sizeof code))
        return false;
    const struct mt_noted_wait *noted = mt_noted_wait_last();
    *number = noted->number;
    return noted->sp == call->sp &&
           memcmp(noted->arguments, call->arguments, sizeof noted->arguments) == 0;
}

/* "mov OFFSET(%rsp), %rax; syscall": cancellation points of glibc 2.41 and later in processes of
 * one thread (__internal_syscall_cancel). */
static bool read_stacked(const struct mt_call *call, uint32_t *number) {
    static const uint8_t load[] = {0x48, 0x8b, 0x44, 0x24};
    const uint8_t *code = (const uint8_t *)call->pc - 7;
    if (memcmp(code, load, sizeof load) != 0 || code[4] > INT8_MAX)
        return false;
    memcpy(number, (const void *)(call->sp + code[4]), sizeof *number);
    return true;
}

/* Cancellation points of glibc 2.41 and later in processes of several threads: the function that
 * makes the call (__syscall_cancel_arch, written in assembly) has moved its arguments over the
 * number, but who has called it was given the number as its seventh argument, on the stack. */
static bool read_cancellable(const struct mt_call *call, uint64_t fp, uint32_t *number) {
    static const uint8_t code[] = {
        0x48, 0x89, 0xf0,             /* mov %rsi, %rax */
        0x48, 0x89, 0xd7,             /* mov %rdx, %rdi */
        0x48, 0x89, 0xce,             /* mov %rcx, %rsi */
        0x4c, 0x89, 0xc2,             /* mov %r8, %rdx */
        0x4d, 0x89, 0xca,             /* mov %r9, %r10 */
        0x4c, 0x8b, 0x44, 0x24, 0x08, /* mov 8(%rsp), %r8 */
        0x4c, 0x8b, 0x4c, 0x24, 0x10, /* mov 16(%rsp), %r9 */
        0x4c, 0x89, 0x5c, 0x24, 0x08, /* mov %r11, 8(%rsp) */
        0x0f, 0x05,                   /* syscall */
    };
    /* The code before a call need not be mapped for so long. */
    if (call->pc % MT_PAGE_SIZE < sizeof code || !is_before(call->pc, code, sizeof code))
        return false;
    uint64_t caller;
    memcpy(&caller, (const void *)call->sp, sizeof caller);
    struct mt_rule rule = mt_rule_for(caller);
    if (rule.kind != MT_RULE_FRAME)
        return false;
    uint64_t sp = call->sp + sizeof caller;
    uint64_t frame = (rule.is_from_fp ? fp : sp) + (uint64_t)(int64_t)rule.cfa_offset;
    memcpy(number, (const void *)frame, sizeof *number);
    return true;
}

/* ---- What was interrupted ---- */

/* Registers of the arguments of a system call, in their order. */
static const int g_arguments[MT_CALL_ARGUMENTS] = {REG_RDI, REG_RSI, REG_RDX,
                                                   REG_R10, REG_R8,  REG_R9};

/* The thread may have gone on since somebody has looked; another call from the very same place,
 * with the same arguments, is the same call. */
static bool is_same(const struct mt_call *seen, const struct mt_call *call) {
    return seen && seen->pc == call->pc && seen->sp == call->sp &&
           memcmp(seen->arguments, call->arguments, sizeof call->arguments) == 0;
}

bool mt_call_read(struct mt_call *call, const void *context, const struct mt_call *seen) {
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    call->pc = (uint64_t)registers[REG_RIP];
    call->sp = (uint64_t)registers[REG_RSP];
    for (int i = 0; i < MT_CALL_ARGUMENTS; i++)
        call->arguments[i] = (uint64_t)registers[g_arguments[i]];
    if (!is_call(call->pc))
        return false;
    if (!is_same(seen, call))
        return read_noted(call, &call->number) || read_constant(call->pc, &call->number) ||
               read_stacked(call, &call->number) ||
               read_cancellable(call, (uint64_t)registers[REG_RBP], &call->number);
    call->number = seen->number;
    return true;
}

bool mt_call_read_interrupted(struct mt_call *call, const void *context,
                              const struct mt_call *seen) {
    return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] == -EINTR &&
           mt_call_read(call, context, seen);
}

void mt_call_set_argument(void *context, int index, uint64_t value) {
    ((ucontext_t *)context)->uc_mcontext.gregs[g_arguments[index]] = (greg_t)value;
}

#else

void mt_call_see(struct mt_call *call, uint32_t tid) {
    (void)tid;
    call->pc = 0;
}

#endif
