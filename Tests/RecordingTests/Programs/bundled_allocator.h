/* An allocator that is linked into a program: of the functions of the C library, or of others that
 * begin with PREFIX. Its realloc calls its malloc and free. */
#ifndef BUNDLED_ALLOCATOR_H
#define BUNDLED_ALLOCATOR_H

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifndef PREFIX
#    define PREFIX
#endif
#define GLUE_(prefix, name) prefix##name
#define GLUE(prefix, name) GLUE_(prefix, name)
#define OWN(name) GLUE(PREFIX, name)

struct header {
    struct header *next;
    size_t size;
};

enum { CLASSES = 256, CHUNK = 1 << 20 };

static struct header *free_lists[CLASSES];
/* What stands in front of a block that is in use. */
#define IN_USE ((struct header *)free_lists)
static char *chunk, *chunk_end;
static int lock;

static void *take(size_t size, size_t alignment) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        ;
    size_t class_ = (size + 15) / 16;
    struct header *found = NULL;
    if (alignment <= 16 && class_ < CLASSES && free_lists[class_]) {
        found = free_lists[class_];
        free_lists[class_] = found->next;
    }
    if (!found) {
        size_t whole = sizeof *found + class_ * 16 + alignment;
        if (!chunk || chunk + whole > chunk_end) {
            size_t length = whole > CHUNK ? whole : CHUNK;
            chunk = (char *)mmap(NULL, length, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            chunk_end = chunk + length;
        }
        uintptr_t block = (uintptr_t)chunk + sizeof *found;
        block = (block + alignment - 1) & ~(alignment - 1);
        found = (struct header *)block - 1;
        chunk = (char *)block + class_ * 16;
    }
    found->size = size;
    found->next = IN_USE;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    return found + 1;
}

static void give_back(void *block) {
    struct header *header = (struct header *)block - 1;
    if (header->next != IN_USE) /* somebody else's, or freed */
        __builtin_trap();
    size_t class_ = (header->size + 15) / 16;
    if (class_ >= CLASSES)
        return;
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        ;
    header->next = free_lists[class_];
    free_lists[class_] = header;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
extern "C" {
#endif

/* Whoever calls one calls it, not a part of it that was split off, and not by a short jump: as if it
 * came from a file of its own. */
#define FUNCTION __attribute__((noipa, section("allocator")))

FUNCTION void *OWN(malloc)(size_t size) {
    return take(size, 16);
}

FUNCTION void OWN(free)(void *block) {
    if (block)
        give_back(block);
}

FUNCTION void *OWN(calloc)(size_t count, size_t size) {
    void *block = OWN(malloc)(count * size);
    memset(block, 0, count * size);
    return block;
}

FUNCTION void *OWN(realloc)(void *block, size_t size) {
    void *moved = OWN(malloc)(size);
    if (block) {
        size_t old = ((struct header *)block)[-1].size;
        memcpy(moved, block, old < size ? old : size);
        OWN(free)(block);
    }
    return moved;
}

FUNCTION int OWN(posix_memalign)(void **result, size_t alignment, size_t size) {
    *result = take(size, alignment);
    return 0;
}

FUNCTION void *OWN(aligned_alloc)(size_t alignment, size_t size) {
    return take(size, alignment);
}

/* As those of jemalloc. */
FUNCTION void *OWN(mallocx)(size_t size, int flags) {
    return take(size, 16);
}

FUNCTION void *OWN(rallocx)(void *block, size_t size, int flags) {
    return OWN(realloc)(block, size);
}

FUNCTION size_t OWN(xallocx)(void *block, size_t size, size_t extra, int flags) {
    struct header *header = (struct header *)block - 1;
    if (size / 16 == header->size / 16)
        header->size = size;
    return header->size;
}

FUNCTION void OWN(sdallocx)(void *block, size_t size, int flags) {
    OWN(free)(block);
}

/* As those of mimalloc. */
FUNCTION void *OWN(malloc_aligned)(size_t size, size_t alignment) {
    return take(size, alignment);
}

FUNCTION void *OWN(realloc_aligned)(void *block, size_t size, size_t alignment) {
    return OWN(realloc)(block, size);
}

#ifdef __cplusplus
}
#endif

#endif
