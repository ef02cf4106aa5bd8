/* Runs seccomp filters over all that a call may be. See sandbox_filter.h. */
#include "lifecycle/sandbox_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

enum { ANY = -1, NONE = 0, READ = 1, WRITE = 3, CODE = 5 };

struct call {
    uint16_t number;
    bool may_fail;      /* the recorder goes on where it is refused */
    int16_t protection; /* the third argument, or ANY */
};

/* All that the recorder calls, whatever it is asked for (scripts/check-layers looks), what
 * libunwind does, and how the kernel returns from handlers and resumes calls. */
static const struct call calls[] = {
    {SYS_mmap, false, NONE},
    {SYS_mmap, false, WRITE},
    {SYS_mprotect, false, NONE},
    {SYS_mprotect, false, READ},
    {SYS_mprotect, false, WRITE},
    {SYS_mprotect, true, CODE},
    {SYS_clock_gettime, false, ANY},
    {SYS_clone, true, ANY},
    {SYS_close, false, ANY},
    {SYS_exit_group, false, ANY},
    {SYS_faccessat, false, ANY},
    {SYS_fallocate, false, ANY},
    {SYS_fchmod, false, ANY},
    {SYS_fcntl, false, ANY},
    {SYS_fgetxattr, true, ANY},
    {SYS_fstatfs, false, ANY},
    {SYS_futex, false, ANY},
    {SYS_getcwd, false, ANY},
    {SYS_getdents64, false, ANY},
    {SYS_getegid, false, ANY},
    {SYS_geteuid, false, ANY},
    {SYS_getgid, false, ANY},
    {SYS_getpid, false, ANY},
    {SYS_getppid, false, ANY},
    {SYS_getrandom, false, ANY},
    {SYS_getrusage, false, ANY},
    {SYS_getsockopt, false, ANY},
    {SYS_gettid, false, ANY},
    {SYS_getuid, false, ANY},
    {SYS_ioctl, true, ANY},
    {SYS_kill, false, ANY},
    {SYS_lseek, false, ANY},
    {SYS_madvise, false, ANY},
    {SYS_mincore, false, ANY},
    {SYS_mlock2, true, ANY},
    {SYS_mlockall, true, ANY},
    {SYS_munlock, false, ANY},
    {SYS_munmap, false, ANY},
    {SYS_newfstatat, false, ANY},
    {SYS_openat, false, ANY},
    {SYS_pipe2, false, ANY},
    {SYS_ppoll, false, ANY},
    {SYS_prctl, true, ANY},
    {SYS_pread64, false, ANY},
    {SYS_prlimit64, false, ANY},
    {SYS_pwrite64, false, ANY},
    {SYS_read, false, ANY},
    {SYS_readlinkat, false, ANY},
    {SYS_recvfrom, false, ANY},
    {SYS_restart_syscall, false, ANY},
    {SYS_rt_sigaction, false, ANY},
    {SYS_rt_sigpending, false, ANY},
    {SYS_rt_sigprocmask, false, ANY},
    {SYS_rt_sigreturn, false, ANY},
    {SYS_rt_tgsigqueueinfo, false, ANY},
    {SYS_sched_yield, false, ANY},
    {SYS_sendto, false, ANY},
    {SYS_sigaltstack, false, ANY},
    {SYS_sysinfo, false, ANY},
    {SYS_tgkill, false, ANY},
    {SYS_timer_create, false, ANY},
    {SYS_timer_delete, false, ANY},
    {SYS_timer_settime, false, ANY},
    {SYS_unlinkat, false, ANY},
    {SYS_wait4, false, ANY},
    {SYS_write, false, ANY},
};

/* What opens a library beside that, or a copy of it in memory. */
static const struct call attaching_calls[] = {
    {SYS_mmap, true, CODE},
    {SYS_brk, true, ANY},
    {SYS_fstat, true, ANY},
    {SYS_memfd_create, true, ANY},
};

/* A register: a value, or any. */
struct word {
    uint32_t value;
    bool is_known;
};

/* Where a path stands. */
struct path {
    uint32_t next;
    struct word accumulator, index;
};

/* Filters compare few arguments before they answer: enough for those of browsers many times. */
enum { PATHS = 32, STEPS = 1 << 14 };

struct run {
    const struct sock_filter *program;
    uint32_t length, steps, count;
    const struct call *call;
    struct path paths[PATHS]; /* yet to go */
};

static const struct word any_word;

static struct word known(uint32_t value) {
    return (struct word){value, true};
}

static struct word field(uint32_t offset, const struct call *call) {
#if defined(__x86_64__)
    enum { ARCHITECTURE = AUDIT_ARCH_X86_64 };
#else
    enum { ARCHITECTURE = AUDIT_ARCH_AARCH64 };
#endif
    switch (offset) {
    case offsetof(struct seccomp_data, nr):
        return known(call->number);
    case offsetof(struct seccomp_data, arch):
        return known((uint32_t)ARCHITECTURE);
    case offsetof(struct seccomp_data, args[2]):
        return call->protection == ANY ? any_word : known((uint32_t)call->protection);
    case offsetof(struct seccomp_data, args[2]) + 4:
        return call->protection == ANY ? any_word : known(0);
    default:
        return any_word;
    }
}

/* What is not worked out may be anything, which is true of all. */
static struct word calculated(unsigned operation, struct word left, struct word right) {
    if (!left.is_known || !right.is_known)
        return any_word;
    switch (operation) {
    case BPF_ADD:
        return known(left.value + right.value);
    case BPF_SUB:
        return known(left.value - right.value);
    case BPF_AND:
        return known(left.value & right.value);
    case BPF_OR:
        return known(left.value | right.value);
    case BPF_XOR:
        return known(left.value ^ right.value);
    default:
        return any_word;
    }
}

static bool is_true(unsigned comparison, uint32_t left, uint32_t right) {
    switch (comparison) {
    case BPF_JEQ:
        return left == right;
    case BPF_JGT:
        return left > right;
    case BPF_JGE:
        return left >= right;
    default: /* BPF_JSET */
        return (left & right) != 0;
    }
}

/* Takes a path up that begins after the instruction at hand and so many more. */
static bool add(struct run *run, struct path path, uint32_t skipped) {
    if (run->count == PATHS || skipped >= run->length - path.next)
        return false;
    path.next += skipped;
    run->paths[run->count++] = path;
    return true;
}

static bool jump(struct run *run, struct path path, struct sock_filter code) {
    unsigned comparison = BPF_OP(code.code);
    struct word left = path.accumulator;
    struct word right = BPF_SRC(code.code) == BPF_X ? path.index : known(code.k);
    if (comparison == BPF_JA)
        return add(run, path, code.k);
    if (comparison > BPF_JSET)
        return false;
    if (left.is_known && right.is_known)
        return add(run, path, is_true(comparison, left.value, right.value) ? code.jt : code.jf);
    return add(run, path, code.jt) && add(run, path, code.jf);
}

static bool answers_well(struct word answer, const struct call *call) {
    if (!answer.is_known)
        return false;
    uint32_t action = answer.value & SECCOMP_RET_ACTION_FULL;
    /* An error of 0 would be success, without anything done. */
    bool is_error = action == SECCOMP_RET_ERRNO && (answer.value & SECCOMP_RET_DATA) != 0;
    return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG || (call->may_fail && is_error);
}

static bool load(struct word *target, struct sock_filter code, const struct call *call) {
    switch (BPF_MODE(code.code)) {
    case BPF_ABS:
        *target = field(code.k, call);
        return true;
    case BPF_IMM:
        *target = known(code.k);
        return true;
    case BPF_LEN:
    case BPF_MEM:
        *target = any_word;
        return true;
    default:
        return false;
    }
}

/* Does one instruction of a path, and adds where that leads.
 * returns  false where nothing can be said, or the call may not pass */
static bool step(struct run *run, struct path path) {
    struct sock_filter code = run->program[path.next++];
    switch (BPF_CLASS(code.code)) {
    case BPF_LD:
        return load(&path.accumulator, code, run->call) && add(run, path, 0);
    case BPF_LDX:
        return load(&path.index, code, run->call) && add(run, path, 0);
    case BPF_ST: /* what is stored is any word when it is loaded */
    case BPF_STX:
        return add(run, path, 0);
    case BPF_ALU: {
        struct word right = BPF_SRC(code.code) == BPF_X ? path.index : known(code.k);
        if (BPF_OP(code.code) == BPF_DIV) /* by 0 ends the program */
            return false;
        path.accumulator = calculated(BPF_OP(code.code), path.accumulator, right);
        return add(run, path, 0);
    }
    case BPF_JMP:
        return jump(run, path, code);
    case BPF_RET:
        return answers_well(BPF_RVAL(code.code) == BPF_A ? path.accumulator : known(code.k),
                            run->call);
    default: /* BPF_MISC */
        if (BPF_MISCOP(code.code) == BPF_TXA)
            path.accumulator = path.index;
        else
            path.index = path.accumulator;
        return add(run, path, 0);
    }
}

static bool spares(const struct sock_filter *program, uint32_t length, const struct call *call) {
    struct run run = {.program = program, .length = length, .call = call};
    run.paths[run.count++] = (struct path){0, known(0), known(0)};
    while (run.count) {
        struct path path = run.paths[--run.count];
        if (run.steps++ == STEPS || !step(&run, path))
            return false;
    }
    return true;
}

static bool spares_all(const struct sock_filter *program, uint32_t length, const struct call *asked,
                       size_t count) {
    for (size_t i = 0; length && i < count; i++)
        if (!spares(program, length, &asked[i]))
            return false;
    return length != 0;
}

bool mt_sandbox_filter_spares(const struct sock_filter *program, uint32_t length) {
    return spares_all(program, length, calls, sizeof calls / sizeof *calls);
}

bool mt_sandbox_filter_spares_attaching(const struct sock_filter *program, uint32_t length) {
    return mt_sandbox_filter_spares(program, length) &&
           spares_all(program, length, attaching_calls,
                      sizeof attaching_calls / sizeof *attaching_calls);
}
