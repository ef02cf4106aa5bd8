/* What the reader wants of the processor and Swift has no word for. */
#ifndef CPROCESSOR_H
#define CPROCESSOR_H

#include <stddef.h>

/* Asks for large pages: what is used all over misses the processor's page tables less often. */
void cprocessor_use_large_pages(void *address, size_t length);

/* Fetches memory that will be looked at soon; any address will do, also one that is not mapped. */
static inline void cprocessor_prefetch(const void *address) {
    __builtin_prefetch(address);
}

#endif
