/* See resume.h. */
#define _GNU_SOURCE
#include "snapshot/resume.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#if defined(__x86_64__)

/* "mov $NUMBER, %eax; syscall": how the C library makes a call. All other arguments are still in
 * their registers, so that the call is made again by going back to the first instruction. */
enum { CALL_LENGTH = 7 };

static bool read_call(uint64_t pc, uint32_t *number) {
    uint8_t code[CALL_LENGTH];
    memcpy(code, (const void *)(pc - CALL_LENGTH), CALL_LENGTH);
    memcpy(number, code + 1, sizeof *number);
    return code[0] == 0xb8 && code[5] == 0x0f && code[6] == 0x05;
}

/* True when the call may begin anew: see resume.h. */
static bool may_begin_anew(uint32_t number, const greg_t *registers) {
    switch (number) {
    case SYS_poll:
        return (int)registers[REG_RDX] < 0;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return (int)registers[REG_R10] < 0;
    case SYS_select: /* these write back what is left */
    case SYS_pselect6:
    case SYS_ppoll:
    case SYS_pause:
    case SYS_rt_sigsuspend:
        return true;
    case SYS_rt_sigtimedwait:
        return registers[REG_RDX] == 0;
    case SYS_nanosleep:
        return registers[REG_RDI] == registers[REG_RSI];
    case SYS_clock_nanosleep:
        return (registers[REG_RSI] & TIMER_ABSTIME) || registers[REG_RDX] == registers[REG_R10];
    default:
        return false;
    }
}

void mt_resume_call(void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint32_t number;
    if (registers[REG_RAX] != -EINTR || !read_call((uint64_t)registers[REG_RIP], &number) ||
        !may_begin_anew(number, registers))
        return;
    registers[REG_RIP] -= CALL_LENGTH;
}

#else

void mt_resume_call(void *context) {
    (void)context;
}

#endif
