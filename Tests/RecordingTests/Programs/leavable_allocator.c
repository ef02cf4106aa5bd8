// An allocator that a signal handler may leave at any moment, and fork in: it never frees. A malloc
// of 33002 bytes is interrupted by SIGUSR1.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static char *start;
static size_t used;
static const size_t capacity = (size_t)1 << 33;

static void *take(size_t size, size_t alignment) {
    if (start == NULL)
        start = mmap(NULL, capacity, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t needed = (size + alignment + 31) & ~(size_t)15;
    size_t offset = __atomic_fetch_add(&used, needed, __ATOMIC_RELAXED);
    if (offset + needed > capacity)
        return NULL;
    uintptr_t block = ((uintptr_t)start + offset + 16 + alignment - 1) & ~(alignment - 1);
    ((size_t *)block)[-1] = size;
    return (void *)block;
}

void *malloc(size_t size) {
    if (size == 33002)
        raise(SIGUSR1);
    return take(size, 16);
}

void free(void *block) {
    (void)block;
}

void *calloc(size_t count, size_t size) {
    return take(count * size, 16);
}

void *realloc(void *block, size_t size) {
    void *moved = take(size, 16);
    size_t before = block == NULL ? 0 : ((size_t *)block)[-1];
    if (moved != NULL && block != NULL)
        memcpy(moved, block, before < size ? before : size);
    return moved;
}

void *aligned_alloc(size_t alignment, size_t size) {
    return take(size, alignment < 16 ? 16 : alignment);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    *result = aligned_alloc(alignment, size);
    return *result == NULL ? ENOMEM : 0;
}

size_t malloc_usable_size(void *block) {
    return block == NULL ? 0 : ((size_t *)block)[-1];
}
