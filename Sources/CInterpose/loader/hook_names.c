/* See hook_names.h. */
#include "loader/hook_names.h"

#include "base/config.h"
#include "base/text.h"

const char *const mt_allocator_names[MT_ALLOCATOR_NAMES] = {"malloc",
                                                            "calloc",
                                                            "realloc",
                                                            "reallocarray",
                                                            "free",
                                                            "cfree",
                                                            "posix_memalign",
                                                            "aligned_alloc",
                                                            "memalign",
                                                            "valloc",
                                                            "pvalloc",
                                                            "malloc_usable_size",
                                                            "free_sized",
                                                            "free_aligned_sized",
                                                            "_Znwm",
                                                            "_ZnwmRKSt9nothrow_t",
                                                            "_ZnwmSt11align_val_t",
                                                            "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                                            "_Znam",
                                                            "_ZnamRKSt9nothrow_t",
                                                            "_ZnamSt11align_val_t",
                                                            "_ZnamSt11align_val_tRKSt9nothrow_t",
                                                            "_ZdlPv",
                                                            "_ZdlPvRKSt9nothrow_t",
                                                            "_ZdlPvm",
                                                            "_ZdlPvSt11align_val_t",
                                                            "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                                                            "_ZdlPvmSt11align_val_t",
                                                            "_ZdaPv",
                                                            "_ZdaPvRKSt9nothrow_t",
                                                            "_ZdaPvm",
                                                            "_ZdaPvSt11align_val_t",
                                                            "_ZdaPvSt11align_val_tRKSt9nothrow_t",
                                                            "_ZdaPvmSt11align_val_t"};

static const char *const other_names[] = {
    "execve",       "execv",        "execvp",
    "execvpe",      "execl",        "execlp",
    "execle",       "fexecve",      "execveat",
    "posix_spawn",  "posix_spawnp", "_exit",
    "_Exit",        "quick_exit",   "abort",
    "daemon",       "dlopen",       "dlmopen",
    "dlclose",      "dlsym",        "setrlimit",
    "setrlimit64",  "prlimit",      "prlimit64",
    "mlockall",     "prctl",        "syscall",
    "setuid",       "setgid",       "seteuid",
    "setegid",      "setreuid",     "setregid",
    "setresuid",    "setresgid",    "setgroups",
    "capset",       "chroot",       "pivot_root",
    "unshare",      "setns",        "pthread_setname_np",
    "epoll_wait",   "epoll_pwait",  "epoll_pwait2",
    "sigtimedwait", "semtimedop",   "sigaction",
    "signal",       "waitpid",      "wait3",
    "wait4",        "waitid",       "pthread_key_create",
    "tss_create",   "sigaltstack",  "poll",
    "__poll_chk",   "nanosleep",    "clock_nanosleep",
    "usleep",       "thrd_sleep",
};

/* Those that stay as they are where nobody asks for them. */
static const char *const mapping_names[] = {"mmap",     "mmap64", "munmap", "mremap",
                                            "mprotect", "brk",    "sbrk"};

enum {
    OTHER_NAMES = sizeof other_names / sizeof *other_names,
    MAPPING_NAMES = sizeof mapping_names / sizeof *mapping_names,
};

_Static_assert(MT_ALLOCATOR_NAMES + OTHER_NAMES + MAPPING_NAMES == MT_HOOK_NAMES, "all names");

const char *mt_hook_names_at(size_t index) {
    if (index < MT_ALLOCATOR_NAMES)
        return mt_allocator_names[index];
    index -= MT_ALLOCATOR_NAMES;
    return index < OTHER_NAMES ? other_names[index] : mapping_names[index - OTHER_NAMES];
}

size_t mt_hook_names_wanted(void) {
    return mt_config.mappings ? MT_HOOK_NAMES : MT_HOOK_NAMES - MAPPING_NAMES;
}

bool mt_hook_names_has(const char *name) {
    for (size_t i = 0; i < mt_hook_names_wanted(); i++)
        if (mt_text_equal(mt_hook_names_at(i), name))
            return true;
    return false;
}
