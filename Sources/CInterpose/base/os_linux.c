/* Raw Linux system calls for x86_64 and aarch64. See os.h for the contract. */
#define _GNU_SOURCE
#include "base/os.h"

#include "base/os_call.h"
#include "base/own_memory.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <time.h>

long mt_os_open(int directory, const char *path, int flags, unsigned mode) {
    long result;
    do {
        result = CALL(SYS_openat, directory, path, flags | O_CLOEXEC, mode, 0, 0);
    } while (result == -EINTR);
    return result;
}

long mt_os_close(int fd) {
    return CALL(SYS_close, fd, 0, 0, 0, 0, 0);
}

long mt_os_read(int fd, void *buffer, size_t size) {
    long result;
    do {
        result = CALL(SYS_read, fd, buffer, size, 0, 0, 0);
    } while (result == -EINTR);
    return result;
}

long mt_os_write(int fd, const void *buffer, size_t size) {
    long result;
    do {
        result = CALL(SYS_write, fd, buffer, size, 0, 0, 0);
    } while (result == -EINTR);
    return result;
}

long mt_os_read_file(const char *path, char *buffer, size_t size) {
    long fd = mt_os_open(MT_AT_CWD, path, O_RDONLY, 0), count = fd;
    size_t length = 0;
    if (fd >= 0) {
        while (length < size - 1 &&
               (count = mt_os_read((int)fd, buffer + length, size - 1 - length)) > 0)
            length += (size_t)count;
        mt_os_close((int)fd);
    }
    buffer[length] = 0;
    return length > 0 || count >= 0 ? (long)length : count;
}

long mt_os_pread(int fd, void *buffer, size_t size, uint64_t offset) {
    long result;
    do {
        result = CALL(SYS_pread64, fd, buffer, size, offset, 0, 0);
    } while (result == -EINTR);
    return result;
}

long mt_os_ioctl(int fd, unsigned long request, void *argument) {
    return CALL(SYS_ioctl, fd, request, argument, 0, 0, 0);
}

long mt_os_pwrite(int fd, const void *buffer, size_t size, uint64_t offset) {
    long result;
    do {
        result = CALL(SYS_pwrite64, fd, buffer, size, offset, 0, 0);
    } while (result == -EINTR);
    return result;
}

long mt_os_unlink(const char *path) {
    return CALL(SYS_unlinkat, AT_FDCWD, path, 0, 0, 0, 0);
}

long mt_os_readlink(const char *path, char *buffer, size_t size) {
    return CALL(SYS_readlinkat, AT_FDCWD, path, buffer, size, 0, 0);
}

long mt_os_getcwd(char *buffer, size_t size) {
    return CALL(SYS_getcwd, buffer, size, 0, 0, 0, 0);
}

long mt_os_duplicate_above(int fd, int lowest) {
    return CALL(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest, 0, 0, 0);
}

long mt_os_is_locked(int fd, uint64_t offset, size_t size) {
    struct flock lock = {.l_type = F_WRLCK, .l_start = (off_t)offset, .l_len = (off_t)size};
    long error = CALL(SYS_fcntl, fd, F_OFD_GETLK, &lock, 0, 0, 0);
    return error < 0 ? error : lock.l_type != F_UNLCK;
}

/* Calls newfstatat, which the C library offers only through wrappers that set errno. */
static long stat_path(int fd, const char *path, struct stat *status, int flags) {
    return CALL(SYS_newfstatat, fd, path, status, flags, 0, 0);
}

long mt_os_identify(int fd, struct mt_file_identity *identity) {
    struct stat status;
    long result = stat_path(fd, "", &status, AT_EMPTY_PATH);
    if (result < 0)
        return result;
    identity->device = status.st_dev;
    identity->inode = status.st_ino;
    return 0;
}

void mt_os_open_to_owner(int fd) {
    struct stat status;
    mode_t least = S_IRUSR | S_IWUSR;
    if (stat_path(fd, "", &status, AT_EMPTY_PATH) >= 0 && (status.st_mode & least) != least)
        CALL(SYS_fchmod, fd, (status.st_mode & 07777) | least, 0, 0, 0, 0);
}

bool mt_os_is_pipe(int fd) {
    struct stat status;
    return stat_path(fd, "", &status, AT_EMPTY_PATH) >= 0 && S_ISFIFO(status.st_mode);
}

long mt_os_open_regular(int directory, const char *path) {
    struct stat status;
    long result = stat_path(directory, path, &status, 0);
    if (result < 0)
        return result;
    if (!S_ISREG(status.st_mode))
        return -EACCES;
    return mt_os_open(directory, path, O_RDONLY | O_NONBLOCK, 0);
}

long mt_os_is_executable(const char *path) {
    struct stat status;
    long error = CALL(SYS_faccessat, AT_FDCWD, path, 1 /* X_OK */, 0, 0, 0);
    if (error == 0)
        error = stat_path(AT_FDCWD, path, &status, 0);
    return error < 0 ? error : S_ISREG(status.st_mode) ? 0 : -EACCES;
}

long mt_os_user_may_read(const char *path) {
    return CALL(SYS_faccessat, AT_FDCWD, path, 4 /* R_OK */, 0, 0, 0);
}

long mt_os_may_create_in(const char *folder) {
    return CALL(SYS_faccessat, AT_FDCWD, folder, 3 /* W_OK | X_OK */, 0, 0, 0);
}

bool mt_os_is_out_of_reach(long error) {
    return error == -ENOENT || error == -EACCES || error == -ENOTDIR || error == -EROFS;
}

/* For filesystems without fallocate: real zeros take the space. */
static long reserve_by_writing(int fd, uint64_t offset, uint64_t length) {
    static const char zeros[MT_PAGE_SIZE];
    for (uint64_t done = 0; done < length; done += sizeof zeros) {
        long written = mt_os_pwrite(fd, zeros, sizeof zeros, offset + done);
        if (written < 0)
            return written;
        if ((size_t)written < sizeof zeros)
            return -ENOSPC;
    }
    return 0;
}

long mt_os_reserve(int fd, uint64_t offset, uint64_t length) {
    if (offset + length > mt_os_limit(RLIMIT_FSIZE))
        return -EFBIG;
    long result;
    do {
        result = CALL(SYS_fallocate, fd, 0, offset, length, 0, 0);
    } while (result == -EINTR);
    if (result == -EOPNOTSUPP || result == -ENOSYS)
        result = reserve_by_writing(fd, offset, length);
    return result;
}

/* Blocks are counted in fragments, where a file system has such:
 * https://man7.org/linux/man-pages/man2/statfs.2.html */
long mt_os_disk_room(int fd, struct mt_disk_room *room) {
    struct statfs system;
    long error;
    do {
        error = CALL(SYS_fstatfs, fd, &system, 0, 0, 0, 0);
    } while (error == -EINTR);
    if (error < 0)
        return error;
    uint64_t unit = (uint64_t)(system.f_frsize > 0 ? system.f_frsize : system.f_bsize);
    room->size = system.f_blocks * unit;
    room->free = system.f_bavail * unit;
    return room->size ? 0 : -EOPNOTSUPP;
}

static bool is_error(long result) {
    return result < 0 && result >= -4095;
}

static void *map(size_t length, int flags, int fd, uint64_t offset, long *error) {
    long result = CALL(SYS_mmap, 0, length, PROT_READ | PROT_WRITE, flags, fd, offset);
    if (is_error(result)) {
        *error = result;
        return NULL;
    }
    return (void *)result;
}

enum { UNTOUCHABLE = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

/* Pages that grow downwards are stack to the kernel, which RLIMIT_DATA does not limit. Only where
 * there is such a limit: sandboxes that look at the flags of mmap refuse, or kill, who passes this
 * one (Chromium's, RestrictMmapFlags). */
enum { NO_DATA = UNTOUCHABLE | MAP_FIXED | MAP_GROWSDOWN };

/* Below them, so that they do not: somebody's wild access would find memory there. The largest page
 * there is, so that what follows it is aligned. */
#if defined(__aarch64__)
enum { GUARD = 64 << 10 };
#else
enum { GUARD = MT_PAGE_SIZE };
#endif

bool mt_os_unlocks_pages;

void mt_os_unlock_pages(const void *address, size_t length) {
    if (mt_unlikely(mt_os_unlocks_pages))
        CALL(SYS_munlock, address, length, 0, 0, 0, 0);
}

static bool is_data_limited(void) {
    return mt_os_limit(RLIMIT_DATA) != UINT64_MAX;
}

static void *map_guarded_pages(size_t length) {
    char *guard = mt_os_reserve_addresses(GUARD + length);
    if (!guard)
        return NULL;
    mt_os_unlock_pages(guard, GUARD + length); /* the second mapping counts beside the first */
    long result = CALL(SYS_mmap, guard + GUARD, length, PROT_READ | PROT_WRITE, NO_DATA, -1, 0);
    if (is_error(result) || !mt_own_memory_add(guard, GUARD + length, MT_OWN_GUARDED)) {
        mt_os_give_back_addresses(guard, GUARD + length);
        return NULL;
    }
    mt_os_unlock_pages(guard, GUARD + length);
    return guard + GUARD;
}

/* Whether the tables are pages that grow downwards, and what is mapped is to be, too. */
static bool g_spares_data;

void *mt_os_map_pages(size_t length) {
    if (g_spares_data)
        return map_guarded_pages(length);
    long error;
    void *address = map(length, UNTOUCHABLE, -1, 0, &error);
    if (!address) /* the program may have set itself a limit */
        return is_data_limited() ? map_guarded_pages(length) : NULL;
    mt_os_unlock_pages(address, length);
    mt_own_memory_add(address, length, MT_OWN_PAGES);
    return address;
}

long mt_os_unmap_pages(void *address, size_t length) {
    char *guard = (char *)address - GUARD;
    if (!mt_own_memory_remove_guarded(guard))
        return mt_os_unmap(address, length);
    return CALL(SYS_munmap, guard, GUARD + length, 0, 0, 0, 0);
}

extern const struct mt_idle_table __start_mt_idle_tables[] MT_INTERNAL;
extern const struct mt_idle_table __stop_mt_idle_tables[] MT_INTERNAL;

void mt_os_renew_idle_tables(void) {
    g_spares_data = is_data_limited();
    if (!g_spares_data)
        return;
    const struct mt_idle_table *end = __stop_mt_idle_tables;
    for (const struct mt_idle_table *table = __start_mt_idle_tables; table < end; table++) {
        uintptr_t first = ((uintptr_t)table->address + GUARD - 1) & ~(uintptr_t)(GUARD - 1);
        uintptr_t last = ((uintptr_t)table->address + table->length) & ~(uintptr_t)(GUARD - 1);
        if (first < last)
            CALL(SYS_mmap, first, last - first, PROT_READ | PROT_WRITE, NO_DATA, -1, 0);
    }
}

void *mt_os_map_file(int fd, uint64_t offset, size_t length, long *error) {
    void *address = map(length, MAP_SHARED, fd, offset, error);
    if (address) {
        mt_os_unlock_pages(address, length);
        CALL(SYS_madvise, address, length, MADV_DONTFORK, 0, 0, 0);
        mt_own_memory_add(address, length, MT_OWN_WINDOW);
    }
    return address;
}

bool mt_os_map_pages_at(void *address, size_t length) {
    /* Where the kernel does not know MAP_FIXED_NOREPLACE (before 4.17), the address is a hint. */
    long result = CALL(SYS_mmap, address, length, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (is_error(result))
        return false;
    if (result != (long)address) {
        CALL(SYS_munmap, result, length, 0, 0, 0, 0);
        return false;
    }
    mt_own_memory_add(address, length, MT_OWN_PAGES);
    return true;
}

long mt_os_unmap(void *address, size_t length) {
    mt_own_memory_remove(address);
    return CALL(SYS_munmap, address, length, 0, 0, 0, 0);
}

long mt_os_protect(void *address, size_t length, int protection) {
    return CALL(SYS_mprotect, address, length, protection, 0, 0, 0);
}

void *mt_os_reserve_addresses(size_t length) {
    long result = CALL(SYS_mmap, 0, length, PROT_NONE, UNTOUCHABLE, -1, 0);
    return is_error(result) ? NULL : (void *)result;
}

void mt_os_give_back_addresses(void *address, size_t length) {
    CALL(SYS_munmap, address, length, 0, 0, 0, 0);
}

/* New pages, since mprotect leaves those that have been written to apart from their neighbours: the
 * kernel would run out of mappings (mm/mmap.c, is_mergeable_anon_vma). */
bool mt_os_forbid(void *address, size_t length) {
    if (!is_error(CALL(SYS_mmap, address, length, PROT_NONE, UNTOUCHABLE | MAP_FIXED, -1, 0)))
        return true;
    mt_os_protect(address, length, PROT_NONE);
    return false;
}

/* include/uapi/asm-generic/mman-common.h */
enum { GUARD_INSTALL = 102, GUARD_REMOVE = 103 };

long mt_os_guard(void *address, size_t length) {
    return CALL(SYS_madvise, address, length, GUARD_INSTALL, 0, 0, 0);
}

long mt_os_unguard(void *address, size_t length) {
    return CALL(SYS_madvise, address, length, GUARD_REMOVE, 0, 0, 0);
}

long mt_os_empty_pages(void *address, size_t length) {
    return CALL(SYS_madvise, address, length, MADV_DONTNEED, 0, 0, 0);
}

long mt_os_wipe_on_fork(void *address, size_t length) {
    return CALL(SYS_madvise, address, length, MADV_WIPEONFORK, 0, 0, 0);
}

long mt_os_pid(void) {
    return CALL(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

long mt_os_ppid(void) {
    return CALL(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

long mt_os_tid(void) {
    return CALL(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

long mt_os_uid(void) {
    return CALL(SYS_getuid, 0, 0, 0, 0, 0, 0);
}

long mt_os_thread_name(char name[16]) {
    return CALL(SYS_prctl, PR_GET_NAME, name, 0, 0, 0, 0);
}

bool mt_os_on_signal_stack(void) {
    stack_t stack = {0};
    CALL(SYS_sigaltstack, 0, &stack, 0, 0, 0, 0);
    return (stack.ss_flags & SS_ONSTACK) != 0;
}

struct mt_signal_stack mt_os_signal_stack(void) {
    stack_t stack = {0};
    if (CALL(SYS_sigaltstack, 0, &stack, 0, 0, 0, 0) < 0 || (stack.ss_flags & SS_DISABLE))
        return (struct mt_signal_stack){0, 0};
    return (struct mt_signal_stack){(uint64_t)stack.ss_sp, stack.ss_size};
}

_Noreturn void mt_os_exit_group(int status) {
    for (;;)
        CALL(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

long mt_os_random(void *buffer, size_t size) {
    return CALL(SYS_getrandom, buffer, size, 1 /* GRND_NONBLOCK */, 0, 0, 0);
}

struct limits {
    uint64_t soft, hard;
};

static struct limits limits_of(int resource) {
    struct limits limits;
    long error = CALL(SYS_prlimit64, 0, resource, 0, &limits, 0, 0);
    return error < 0 ? (struct limits){UINT64_MAX, UINT64_MAX} : limits;
}

uint64_t mt_os_limit(int resource) {
    return limits_of(resource).soft;
}

uint64_t mt_os_hard_limit(int resource) {
    return limits_of(resource).hard;
}

long mt_os_set_soft_limit(int resource, uint64_t soft) {
    struct limits limit;
    long error = CALL(SYS_prlimit64, 0, resource, 0, &limit, 0, 0);
    if (error < 0)
        return error;
    limit.soft = soft < limit.hard ? soft : limit.hard;
    return CALL(SYS_prlimit64, 0, resource, &limit, 0, 0, 0);
}

uint64_t mt_os_peak_bytes(void) {
    struct rusage usage;
    if (CALL(SYS_getrusage, RUSAGE_SELF, &usage, 0, 0, 0, 0) < 0)
        return 0;
    return (uint64_t)usage.ru_maxrss << 10;
}

uint64_t mt_os_ram_bytes(void) {
    struct sysinfo info;
    if (CALL(SYS_sysinfo, &info, 0, 0, 0, 0, 0) < 0)
        return UINT64_MAX;
    return (uint64_t)info.totalram * info.mem_unit;
}

uint64_t mt_os_time_ns(int clock) {
    struct timespec now;
    if (CALL(SYS_clock_gettime, clock, &now, 0, 0, 0, 0) < 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whether this thread is between the two: pairs lie within each other, and only the outermost one
 * needs the kernel. Set while no signal can come in between. */
static __thread bool g_holds_signals;

/* What the kernel never says: SIGKILL cannot be blocked. */
#define MT_HELD_ALREADY UINT64_MAX

/* All, but for the trap after each instruction of a program that steps itself: held back, it would
 * end the process. */
static uint64_t signals_to_block(void) {
#ifdef __x86_64__
    enum { TRAP_FLAG = 1 << 8 };
    if (__builtin_ia32_readeflags_u64() & TRAP_FLAG)
        return ~((uint64_t)1 << (SIGTRAP - 1));
#endif
    return UINT64_MAX;
}

uint64_t mt_os_block_signals(void) {
    uint64_t blocked = signals_to_block(), before = 0;
    if (g_holds_signals)
        return MT_HELD_ALREADY;
    CALL(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, &before, sizeof blocked, 0, 0);
    g_holds_signals = true;
    return before;
}

void mt_os_restore_signals(uint64_t blocked) {
    if (blocked == MT_HELD_ALREADY)
        return;
    g_holds_signals = false;
    CALL(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, 0, sizeof blocked, 0, 0);
}

void mt_os_futex_wait(uint32_t *word, uint32_t expected) {
    CALL(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, 0, 0, 0);
}

void mt_os_futex_wake(uint32_t *word) {
    CALL(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

void mt_os_yield(void) {
    CALL(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* rt_sigprocmask copies the set before it looks at `how`: EFAULT or EINVAL. A call that no seccomp
 * filter forbids, unlike process_vm_readv. No set at all is a set to it. */
bool mt_os_is_readable(uintptr_t address) {
    return address != 0 && CALL(SYS_rt_sigprocmask, -1, address, 0, 8, 0, 0) != -EFAULT;
}

bool mt_os_holds(uintptr_t address, const void *bytes, size_t size) {
    const uintptr_t word = ~(uintptr_t)7;
    return mt_os_is_readable(address & word) && mt_os_is_readable((address + size - 1) & word) &&
           memcmp((const void *)address, bytes, size) == 0;
}
