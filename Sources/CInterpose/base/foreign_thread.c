/* See foreign_thread.h. */
#include "base/foreign_thread.h"

#include "base/os_threads.h"
#include "base/tls.h"

#if defined(__x86_64__)

#    include <sys/auxv.h>

/* The kernel lets programs read the register themselves (Linux 5.9). Elsewhere only the memory that
 * it points to tells where that is, in threads of the C library's: all are taken for such. */
static bool g_can_read_pointer;

void mt_foreign_threads_begin(void) {
    enum { HWCAP2_FSGSBASE = 1 << 1 };
    g_can_read_pointer = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

static uintptr_t thread_pointer(void) {
    uintptr_t pointer;
    if (!g_can_read_pointer)
        return mt_os_thread_pointer();
    __asm__ volatile("rdfsbase %0" : "=r"(pointer));
    return pointer;
}

static uintptr_t place_of_block(void) {
    uintptr_t distance;
    __asm__("movq mt_tls@gottpoff(%%rip), %0" : "=r"(distance));
    return thread_pointer() + distance;
}

#else

static const bool g_can_read_pointer = false;

void mt_foreign_threads_begin(void) {}

static uintptr_t thread_pointer(void) {
    return mt_os_thread_pointer();
}

static uintptr_t place_of_block(void) {
    return (uintptr_t)&mt_tls;
}

#endif

static bool is_same_page(uintptr_t place, uintptr_t other) {
    return place / MT_PAGE_SIZE == other / MT_PAGE_SIZE;
}

static bool is_block(uintptr_t place) {
    const struct mt_tls *block = (const struct mt_tls *)place;
    uintptr_t mark = (uintptr_t)&block->mark;
    return place % _Alignof(struct mt_tls) == 0 && mt_os_is_readable(mark) &&
           (is_same_page(place, mark) || mt_os_is_readable(place)) && block->mark == MT_TLS_MARK;
}

bool mt_thread_is_foreign(void) {
    return !is_block(place_of_block());
}

bool mt_thread_has_block(void) {
    if (!g_can_read_pointer)
        return mt_tls.mark == MT_TLS_MARK;
    uintptr_t place = place_of_block();
    if (!is_same_page(place, thread_pointer()))
        return is_block(place);
    const struct mt_tls *block = (const struct mt_tls *)place;
    return place % _Alignof(struct mt_tls) == 0 && block->mark == MT_TLS_MARK;
}
