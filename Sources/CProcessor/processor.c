#define _GNU_SOURCE
#include "cprocessor.h"

#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>

int cprocessor_count(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    return 1;
}

enum { LARGE_PAGE = 2 << 20 };

void cprocessor_use_large_pages(void *address, size_t length) {
#ifdef MADV_HUGEPAGE
    uintptr_t start = ((uintptr_t)address + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)address + length) & ~(uintptr_t)(LARGE_PAGE - 1);
    if (start < end)
        madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
    (void)address;
    (void)length;
#endif
}
