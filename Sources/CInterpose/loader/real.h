/* The functions behind ours, and the arena that serves while they are being looked up.
 *
 * Found with dlsym(RTLD_NEXT), so that a preloaded or linked jemalloc or tcmalloc keeps working.
 * dlsym itself may allocate: those few calls are served by a static arena whose blocks are never
 * given to the real allocator. */
#ifndef MT_REAL_H
#define MT_REAL_H

#include "base/os.h"
#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

struct epoll_event;
struct pollfd;
struct rusage;
struct sembuf;

/* X(result, name, parameters): looked up as they are named. */
#define MT_FOR_EACH_REAL(X)                                                                        \
    X(void *, malloc, (size_t))                                                                    \
    X(void *, calloc, (size_t, size_t))                                                            \
    X(void *, realloc, (void *, size_t))                                                           \
    X(void, free, (void *))                                                                        \
    X(int, posix_memalign, (void **, size_t, size_t))                                              \
    X(void *, aligned_alloc, (size_t, size_t))                                                     \
    X(void *, memalign, (size_t, size_t))                                                          \
    X(void *, valloc, (size_t))                                                                    \
    X(void *, pvalloc, (size_t))                                                                   \
    X(size_t, malloc_usable_size, (void *))                                                        \
    X(int, execve, (const char *, char *const[], char *const[]))                                   \
    X(int, execvpe, (const char *, char *const[], char *const[]))                                  \
    X(int, fexecve, (int, char *const[], char *const[]))                                           \
    X(int, posix_spawn,                                                                            \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,       \
       char *const[], char *const[]))                                                              \
    X(int, posix_spawnp,                                                                           \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,       \
       char *const[], char *const[]))                                                              \
    X(void, quick_exit, (int))                                                                     \
    X(void, _exit, (int))                                                                          \
    X(void, abort, (void))                                                                         \
    X(int, daemon, (int, int))                                                                     \
    X(void *, dlopen, (const char *, int))                                                         \
    X(void *, dlmopen, (long, const char *, int))                                                  \
    X(int, dlclose, (void *))                                                                      \
    X(int, setrlimit, (int, const void *))                                                         \
    X(int, setrlimit64, (int, const void *))                                                       \
    X(int, prlimit, (pid_t, int, const void *, void *))                                            \
    X(int, prlimit64, (pid_t, int, const void *, void *))                                          \
    X(void *, mmap, (void *, size_t, int, int, int, off_t))                                        \
    X(void *, mmap64, (void *, size_t, int, int, int, off_t))                                      \
    X(int, munmap, (void *, size_t))                                                               \
    X(void *, mremap, (void *, size_t, size_t, int, void *))                                       \
    X(int, mprotect, (void *, size_t, int))                                                        \
    X(int, brk, (void *))                                                                          \
    X(void *, sbrk, (intptr_t))                                                                    \
    X(int, mlockall, (int))                                                                        \
    X(long, syscall, (long, ...))                                                                  \
    X(int, prctl, (int, ...))                                                                      \
    X(int, setuid, (uid_t))                                                                        \
    X(int, setgid, (gid_t))                                                                        \
    X(int, seteuid, (uid_t))                                                                       \
    X(int, setegid, (gid_t))                                                                       \
    X(int, setreuid, (uid_t, uid_t))                                                               \
    X(int, setregid, (gid_t, gid_t))                                                               \
    X(int, setresuid, (uid_t, uid_t, uid_t))                                                       \
    X(int, setresgid, (gid_t, gid_t, gid_t))                                                       \
    X(int, setgroups, (size_t, const gid_t *))                                                     \
    X(int, capset, (void *, const void *))                                                         \
    X(int, chroot, (const char *))                                                                 \
    X(int, pivot_root, (const char *, const char *))                                               \
    X(int, unshare, (int))                                                                         \
    X(int, setns, (int, int))                                                                      \
    X(int, poll, (struct pollfd *, unsigned long, int))                                            \
    X(int, __poll_chk, (struct pollfd *, unsigned long, int, size_t))                              \
    X(int, nanosleep, (const struct timespec *, struct timespec *))                                \
    X(int, clock_nanosleep, (clockid_t, int, const struct timespec *, struct timespec *))          \
    X(int, usleep, (unsigned))                                                                     \
    X(int, thrd_sleep, (const struct timespec *, struct timespec *))                               \
    X(int, epoll_wait, (int, struct epoll_event *, int, int))                                      \
    X(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *))                   \
    X(int, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *))                 \
    X(int, semtimedop, (int, struct sembuf *, size_t, const struct timespec *))                    \
    X(int, sigaction, (int, const struct sigaction *, struct sigaction *))                         \
    X(int, sigaltstack, (const stack_t *, stack_t *))                                              \
    X(void *, signal, (int, void *))                                                               \
    X(pid_t, waitpid, (pid_t, int *, int))                                                         \
    X(pid_t, wait3, (int *, int, struct rusage *))                                                 \
    X(pid_t, wait4, (pid_t, int *, int, struct rusage *))                                          \
    X(int, waitid, (idtype_t, id_t, siginfo_t *, int))                                             \
    X(int, pthread_setname_np, (unsigned long, const char *))                                      \
    X(int, pthread_key_create, (unsigned *, void (*)(void *)))                                     \
    X(int, tss_create, (unsigned *, void (*)(void *)))

/* The same of what not every glibc has that we run with. */
#define MT_FOR_EACH_NEWER_REAL(X)                                                                  \
    X(void, free_sized, (void *, size_t))                                                          \
    X(void, free_aligned_sized, (void *, size_t, size_t))                                          \
    X(int, execveat, (int, const char *, char *const[], char *const[], int))                       \
    X(int, epoll_pwait2,                                                                           \
      (int, struct epoll_event *, int, const struct timespec *, const sigset_t *))

struct mt_real {
#define MT_REAL_FIELD(result, name, parameters) result(*name) parameters;
    MT_FOR_EACH_REAL(MT_REAL_FIELD)
    MT_FOR_EACH_NEWER_REAL(MT_REAL_FIELD)
#undef MT_REAL_FIELD
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    int (*dl_find_object)(void *, struct dl_find_object *);
#endif
};

/* Entries are NULL until mt_real_resolve, and for what the C library does not have. */
extern MT_INTERNAL struct mt_real mt_real;

/* Looks everything up. Allocations made meanwhile are served by the arena.
 * returns  false when malloc, calloc, realloc or free cannot be found */
bool mt_real_resolve(void);

/* Whether the function behind a hook cannot be called: it is not there, or not to be found so
 * early. The first call looks everything up. */
#define MT_REAL_IS_MISSING(name)                                                                   \
    (mt_unlikely(!mt_real.name) && (!mt_real_resolve() || !mt_real.name))

/* We were loaded into a process that was running already, behind all others: what is behind ours is
 * what the process calls. Before the first look. */
void mt_real_come_last(void);

/* The dlsym behind ours; NULL until mt_real_find_dlsym, which returns whether there is one. */
extern MT_INTERNAL void *(*mt_real_dlsym)(void *, const char *);
bool mt_real_find_dlsym(void);

/* As dlsym, called by the recorder: never led to ours (handle_symbols.h). */
void *mt_real_symbol(void *handle, const char *name);

/* Whether an address lies in the recorder itself. */
bool mt_real_is_ours(uintptr_t address);

/* The function of that name that ours is in front of; 0 when there is none. */
uintptr_t mt_real_behind(const char *name);

/* The executable's own entry for a function that it imports, which stands for the function in the
 * whole process where the executable is not position-independent; 0 when it has none. */
uintptr_t mt_real_entry(const char *name);

/* Puts functions of ours in front of those of the allocator that `ours` has: they find these in a
 * copy of mt_real that is made before. What the C library does not have stays missing. */
void mt_real_replace(const struct mt_real *ours);

/* Where the malloc is that was found, whatever mt_real.malloc is meanwhile (mt_real_replace). */
extern MT_INTERNAL const void *mt_real_allocator;

/* Whether a function is the C library's own. */
bool mt_real_is_of_c_library(const void *function);

/* Whom calls of an exported function reach when they are not bound to ours.
 *
 * name     of one of our exported functions
 * returns  the file name of the image whose definition comes before ours in the host's scope;
 *          NULL when calls reach us. A non-PIE executable's own entry for an imported function
 *          (its canonical PLT address) is no definition. */
const char *mt_real_overriding_image(const char *name);

/* ---- The bootstrap arena: never freed, thread-safe, async-signal-safe ---- */

/* size bytes at a multiple of alignment (a power of two), or NULL when it is used up. */
void *mt_arena_allocate(size_t size, size_t alignment);
/* NULL on overflow of count * size, too. The bytes are zero. */
void *mt_arena_allocate_zeroed(size_t count, size_t size);
enum { MT_ARENA_CAPACITY = 256 << 10 };
extern MT_INTERNAL uint8_t mt_arena_bytes[MT_ARENA_CAPACITY];

/* True for a block of the arena: it must not reach the real allocator. */
static inline bool mt_arena_owns(const void *block) {
    return (uintptr_t)block - (uintptr_t)mt_arena_bytes < MT_ARENA_CAPACITY;
}
/* Bytes asked for when the block was allocated. */
size_t mt_arena_size(const void *block);
/* What the arena has served so far. */
void mt_arena_usage(uint64_t *blocks, uint64_t *bytes);

#endif
