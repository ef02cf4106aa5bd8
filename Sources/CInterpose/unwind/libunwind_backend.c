/* Calls libunwind through pointers. See libunwind_backend.h.
 *
 * libunwind checks addresses by writing them into a pipe of its own, whose two descriptors it
 * keeps open, unprotected, at the lowest free numbers. A host that runs closefrom(3) would get
 * them back as its own files, with libunwind still writing there. So our own check takes its
 * place, and the pipe is closed as soon as it is there. */
#define _GNU_SOURCE
#include "unwind/libunwind_backend.h"

#include "base/tls.h"
#include "loader/loader_gate.h"
#include "loader/real.h"
#include "unwind/libunwind_pages.h"
#include "unwind/spare_stack.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>
#include <string.h>

#if defined(__x86_64__)
#    define MT_UNW_REMOTE(name) "_Ux86_64_" name
#    define MT_UNW_LOCAL(name) "_ULx86_64_" name
#else
#    define MT_UNW_REMOTE(name) "_Uaarch64_" name
#    define MT_UNW_LOCAL(name) "_ULaarch64_" name
#endif

static struct {
    int (*backtrace)(void **, int);
    int (*set_caching_policy)(unw_addr_space_t, unw_caching_policy_t);
    int (*set_cache_size)(unw_addr_space_t, size_t, int);
    unw_accessors_t *(*get_accessors)(unw_addr_space_t);
    unw_addr_space_t *local_space;
} g_unw;

/* The last page found readable during the backtrace of ours that is running. */
static __thread uintptr_t t_readable_page __attribute__((tls_model("initial-exec")));

/* Pages found readable in walks of the host's. As libunwind's own list of them, it is never
 * emptied. */
#define MT_HOST_PAGES 4
static __thread uintptr_t t_host_pages[MT_HOST_PAGES] __attribute__((tls_model("initial-exec")));

/* Whether the eight bytes at an address can be read; `known` is a page that can, or becomes it. */
static bool can_read(unw_word_t address, uintptr_t *known) {
    uintptr_t page = address & ~(uintptr_t)(MT_PAGE_SIZE - 1);
    bool crosses = ((address + 7) & ~(unw_word_t)(MT_PAGE_SIZE - 1)) != page;
    if (page == 0 || ((page != *known || crosses) && !mt_os_is_readable(address)))
        return false;
    *known = page;
    return true;
}

/* A host that uses libunwind as well, for its exceptions or for profiles, has the same copy of it,
 * and walks by this function, too. It also writes: registers of frames that it goes on in. */
static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
                         void *argument) {
    (void)space;
    (void)argument;
    bool is_ours = mt_tls.in_libunwind != 0;
    if (write) {
        if (is_ours)
            return -UNW_EINVAL;
        memcpy((void *)address, value, sizeof *value);
        return 0;
    }
    uintptr_t *known =
        is_ours ? &t_readable_page : &t_host_pages[address / MT_PAGE_SIZE % MT_HOST_PAGES];
    if (!can_read(address, known))
        return -UNW_EUNSPEC;
    memcpy(value, (const void *)address, sizeof *value);
    return 0;
}

static void look_up(void *library, void *field, const char *name) {
    void *symbol = mt_real_symbol(library, name);
    memcpy(field, &symbol, sizeof symbol);
}

/* The two lowest descriptors that are free now: where a pipe will go. */
static void lowest_free(int numbers[2]) {
    int found = 0;
    for (int fd = 0; fd < 1 << 16 && found < 2; fd++) {
        struct mt_file_identity identity;
        if (mt_os_identify(fd, &identity) == -EBADF)
            numbers[found++] = fd;
    }
    while (found < 2)
        numbers[found++] = -1;
}

/* Closes the two if they have become the ends of one pipe. */
static void close_pipe(const int numbers[2]) {
    struct mt_file_identity ends[2];
    if (mt_os_identify(numbers[0], &ends[0]) < 0 || mt_os_identify(numbers[1], &ends[1]) < 0)
        return;
    if (ends[0].inode != ends[1].inode || ends[0].device != ends[1].device ||
        !mt_os_is_pipe(numbers[0]))
        return;
    mt_os_close(numbers[0]);
    mt_os_close(numbers[1]);
}

/* Of so many return addresses libunwind is to know how their frames are left. By default of 128,
 * fewer than a program of some size has on its stacks. */
enum { CACHED_PLACES = 4096 };

void mt_libunwind_load(void) {
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        dlerror();
        return;
    }
    look_up(library, &g_unw.local_space, MT_UNW_LOCAL("local_addr_space"));
    look_up(library, &g_unw.set_caching_policy, MT_UNW_LOCAL("set_caching_policy"));
    look_up(library, &g_unw.set_cache_size, MT_UNW_LOCAL("set_cache_size"));
    look_up(library, &g_unw.get_accessors, MT_UNW_REMOTE("get_accessors"));
    int (*backtrace)(void **, int);
    look_up(library, &backtrace, "unw_backtrace");
    if (!g_unw.local_space || !g_unw.set_caching_policy || !g_unw.get_accessors)
        return;
    mt_libunwind_answer_for_pages(library);
    int numbers[2];
    lowest_free(numbers);
    /* The first call initialises the library. */
    mt_tls.in_libunwind = 1;
    g_unw.set_caching_policy(*g_unw.local_space, UNW_CACHE_PER_THREAD);
    if (g_unw.set_cache_size) /* since 1.3 */
        g_unw.set_cache_size(*g_unw.local_space, CACHED_PLACES, 0);
    mt_tls.in_libunwind = 0;
    unw_accessors_t *accessors = g_unw.get_accessors(*g_unw.local_space);
    if (!accessors)
        return;
    accessors->access_mem = access_memory;
    close_pipe(numbers);
    __atomic_store_n(&g_unw.backtrace, backtrace, __ATOMIC_RELEASE);
}

/* On a spare stack. Where there is none, on the host's: a thread's own has room, as a rule, the one
 * of a signal handler may not. */
static int backtrace_with_room(int (*backtrace)(void **, int), uintptr_t *pcs, uint32_t capacity) {
    int count = mt_spare_stack_call(backtrace, (void **)pcs, (int)capacity);
    if (mt_likely(count >= 0) || mt_os_on_signal_stack())
        return count;
    return backtrace((void **)pcs, (int)capacity);
}

/* On aarch64 some versions say of a caller where its call is, by the byte in front of the place to
 * which it returns
 * (`pc - use_prev_instr` in src/aarch64/Gtrace.c); others, as on x86_64, say that place.
 * Instructions begin on multiples of four bytes. */
static void make_return_addresses(uintptr_t *pcs, uint32_t count) {
#if defined(__aarch64__)
    for (uint32_t i = 0; i < count; i++)
        pcs[i] = (pcs[i] + 3) & ~(uintptr_t)3;
#else
    (void)pcs;
    (void)count;
#endif
}

uint32_t mt_libunwind_backtrace(uintptr_t *pcs, uint32_t capacity) {
    int (*backtrace)(void **, int) = __atomic_load_n(&g_unw.backtrace, __ATOMIC_ACQUIRE);
    if (!backtrace)
        return 0;
    /* libunwind looks at the loader's list. Signals wait: a handler that jumped away would not
     * leave the gate. */
    uint64_t signals = mt_os_block_signals();
    int saved = errno, count = 0;
    t_readable_page = 0;
    if (mt_loader_gate_enter()) {
        mt_tls.in_libunwind = 1;
        count = backtrace_with_room(backtrace, pcs, capacity);
        mt_tls.in_libunwind = 0;
        mt_loader_gate_leave();
    }
    errno = saved;
    mt_os_restore_signals(signals);
    uint32_t frames = count > 0 ? (uint32_t)count : 0;
    make_return_addresses(pcs, frames);
    return frames;
}
