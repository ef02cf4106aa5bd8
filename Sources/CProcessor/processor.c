#define _GNU_SOURCE
#include "cprocessor.h"

#include <stdint.h>
#include <sys/mman.h>

enum { PAGE = 4096, LARGE_PAGE = 2 << 20 };

/* All pages, also those at the ends that no large page can have: of memory that is not alike,
 * realloc could not move the pages, and would copy it. */
void cprocessor_use_large_pages(void *address, size_t length) {
#ifdef MADV_HUGEPAGE
    uintptr_t start = (uintptr_t)address & ~(uintptr_t)(PAGE - 1);
    uintptr_t end = ((uintptr_t)address + length + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    if (length >= LARGE_PAGE)
        madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
    (void)address;
    (void)length;
#endif
}
