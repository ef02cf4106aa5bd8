/* What the recorder asks of the kernel, by raw system calls.
 *
 * Kept apart because nothing here may go through libc: its wrappers set errno, are interposable
 * (by us, too) and some are cancellation points. Every function returns a value >= 0 or -errno
 * and leaves errno alone. All are async-signal-safe and never allocate. */
#ifndef MT_OS_H
#define MT_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MT_PAGE_SIZE 4096u
#define mt_likely(x) __builtin_expect(!!(x), 1)
#define mt_unlikely(x) __builtin_expect(!!(x), 0)
#define MT_COLD __attribute__((noinline, cold))

/* Of which every caller gets a copy, whatever the compiler thinks of its length. */
#define MT_INLINE static inline __attribute__((always_inline))
/* On a variable that hooks read: it is read where it is, not by way of the global offset table.
 * -fvisibility says so of definitions only. */
#define MT_INTERNAL __attribute__((visibility("hidden")))

/* Files. `directory` is a descriptor or MT_AT_CWD for paths relative to the working directory. */
#define MT_AT_CWD (-100)
long mt_os_open(int directory, const char *path, int flags, unsigned mode);
long mt_os_close(int fd);
/* Reads a small file, as a string: at most size - 1 bytes. Returns its length; else it is empty. */
long mt_os_read_file(const char *path, char *buffer, size_t size);
long mt_os_read(int fd, void *buffer, size_t size);
long mt_os_write(int fd, const void *buffer, size_t size);
long mt_os_pread(int fd, void *buffer, size_t size, uint64_t offset);
long mt_os_ioctl(int fd, unsigned long request, void *argument);
long mt_os_pwrite(int fd, const void *buffer, size_t size, uint64_t offset);
long mt_os_unlink(const char *path);
long mt_os_readlink(const char *path, char *buffer, size_t size);
long mt_os_getcwd(char *buffer, size_t size);
/* Duplicates fd to the lowest free descriptor >= lowest, close-on-exec. */
long mt_os_duplicate_above(int fd, int lowest);

/* Device and inode of an open file: what a descriptor is checked against before each use. */
struct mt_file_identity {
    uint64_t device;
    uint64_t inode;
};
long mt_os_identify(int fd, struct mt_file_identity *identity);
bool mt_os_is_pipe(int fd);
/* Lets the owner read and write a file that was created under an umask that forbids it. */
void mt_os_open_to_owner(int fd);
/* Whether somebody holds a lock on bytes of a file (F_OFD_SETLK): 0 or 1, or -errno. */
long mt_os_is_locked(int fd, uint64_t offset, size_t size);
/* Opens a regular file for reading; anything else (opening a FIFO would wait) is -EACCES. */
long mt_os_open_regular(int directory, const char *path);
/* Whether a file may be executed: 0, else -EACCES, also for a folder; -ENOENT ... */
long mt_os_is_executable(const char *path);
/* Whether the real user may read a file, whatever capabilities the process has: 0, -EACCES ... */
long mt_os_user_may_read(const char *path);
/* Whether files may be made in a folder: 0, -EACCES, -ENOENT, -EROFS ... */
long mt_os_may_create_in(const char *folder);
/* Whether an outcome says that a path is not there for the process, or not for this use, rather
 * than that the machine has too little of something. */
bool mt_os_is_out_of_reach(long error);

/* Makes [offset, offset + length) of the file exist with space behind it, so that a mapping of it
 * cannot raise SIGBUS on a full disk. Never exceeds RLIMIT_FSIZE (that would raise SIGXFSZ).
 * errors   -ENOSPC, -EDQUOT, -EFBIG, -EIO ... */
long mt_os_reserve(int fd, uint64_t offset, uint64_t length);
/* The file system that a file is in. */
struct mt_disk_room {
    uint64_t size, free; /* bytes; free: for this user */
};
/* returns  0 or -errno: -EOPNOTSUPP where a file system has no size of its own */
long mt_os_disk_room(int fd, struct mt_disk_room *room);

/* Memory. */
/* Anonymous zeroed pages, or NULL. Where the host was begun with a limit on its data (RLIMIT_DATA),
 * or it has reached one, they do not count there. */
void *mt_os_map_pages(size_t length);
/* Whether the program has all that is mapped from now on locked (MCL_FUTURE): ours is not then. */
extern MT_INTERNAL bool mt_os_unlocks_pages;
/* Lets go of a new mapping of ours, where that is so. */
void mt_os_unlock_pages(const void *address, size_t length);
/* Gives back what mt_os_map_pages gave. */
long mt_os_unmap_pages(void *address, size_t length);
/* A shared, writable window of a file, absent in forked children; or NULL with *error set. */
void *mt_os_map_file(int fd, uint64_t offset, size_t length, long *error);
/* Puts zeroed pages where nothing is mapped; leaves what is there.
 * returns  whether nothing was there, and now the pages are */
bool mt_os_map_pages_at(void *address, size_t length);
/* Gives back what mt_os_map_file or mt_os_map_shared gave, or a hole that was filled. */
long mt_os_unmap(void *address, size_t length);

/* A static table, of so many bytes that it would count in a small RLIMIT_DATA of the host's, that
 * nobody has written to when a recording starts. */
struct mt_idle_table {
    void *address;
    size_t length;
};
#define MT_IDLE_AT_START(table)                                                                    \
    static const struct mt_idle_table table##_is_idle                                              \
        __attribute__((used, section("mt_idle_tables"))) = {&table, sizeof table}
/* Puts pages like those of mt_os_map_pages where they are, if these do not count as data. */
void mt_os_renew_idle_tables(void);

/* Changes what may be done with whole pages: PROT_READ ... */
long mt_os_protect(void *address, size_t length, int protection);
/* Anonymous pages that may not be touched and take no memory, or NULL. Not the recorder's own: what
 * is done with them is for the caller to say. */
void *mt_os_reserve_addresses(size_t length);
/* Gives back some of what mt_os_reserve_addresses gave. */
void mt_os_give_back_addresses(void *address, size_t length);
/* Makes whole anonymous pages what mt_os_reserve_addresses gives.
 * returns  false where the kernel has no room for it: then they may not be touched, and keep
 *          their memory, if nothing else can be had */
bool mt_os_forbid(void *address, size_t length);
/* Puts guards into pages of anonymous memory, and takes them away: who touches one gets SIGSEGV.
 * What was in the pages is gone. 0 or -EINVAL: before Linux 6.13, or for locked memory. */
long mt_os_guard(void *address, size_t length);
long mt_os_unguard(void *address, size_t length);
/* Makes whole private pages read as zeros again, and gives their memory back. 0 or -EINVAL: they
 * are locked, or no whole ones, and stay as they are. */
long mt_os_empty_pages(void *address, size_t length);
/* Makes a page read as zeros in a forked child; -EINVAL before Linux 4.14. */
long mt_os_wipe_on_fork(void *address, size_t length);

/* Process and threads. */
long mt_os_pid(void);
long mt_os_ppid(void);
long mt_os_tid(void);
long mt_os_uid(void);
/* Name of the calling thread, at most 15 bytes, terminated. */
long mt_os_thread_name(char name[16]);
bool mt_os_on_signal_stack(void);
/* What the calling thread has set up with sigaltstack; without one, size is 0. */
struct mt_signal_stack {
    uint64_t start, size;
};
struct mt_signal_stack mt_os_signal_stack(void);
_Noreturn void mt_os_exit_group(int status);
long mt_os_random(void *buffer, size_t size);

/* RLIMIT_* soft limit, UINT64_MAX when unlimited or unknown. */
uint64_t mt_os_limit(int resource);
uint64_t mt_os_hard_limit(int resource);
/* Changes the soft limit alone, at most to the hard one. 0 or -errno. */
long mt_os_set_soft_limit(int resource, uint64_t soft);
uint64_t mt_os_ram_bytes(void);
/* The most that the process has ever had in memory at once; 0: unknown. */
uint64_t mt_os_peak_bytes(void);
uint64_t mt_os_time_ns(int clock);

/* Holds back every signal of the calling thread, also the C library's own (cancellation), and gives
 * back the set that was held back before, for mt_os_restore_signals. Only where the thread steps
 * itself through its code (the trap flag of x86) SIGTRAP comes on. */
uint64_t mt_os_block_signals(void);
void mt_os_restore_signals(uint64_t blocked);

/* Sleeps while *word == expected; spurious returns are allowed. */
void mt_os_futex_wait(uint32_t *word, uint32_t expected);
void mt_os_futex_wake(uint32_t *word);
/* Lets others run. */
void mt_os_yield(void);

/* True when the 8 bytes at an address can be read. Never faults: the kernel looks. */
bool mt_os_is_readable(uintptr_t address);

/* True when an address can be read, and holds these few bytes. */
bool mt_os_holds(uintptr_t address, const void *bytes, size_t size);

#endif
