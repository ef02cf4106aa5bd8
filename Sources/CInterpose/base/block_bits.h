/* Blocks as bits, one for each 8 bytes of address space: for sets of many.
 *
 *      directory  [ . | * | . ... ]          an entry for each 256 MiB, 2^20 of them
 *                      |
 *      leaf       [ 0 1 0 0 1 ... ]          4 MiB, mapped when a block there is put in
 *
 * Neighbours have neighbouring bits. So what the program has just touched is near here as well, and
 * the pages that are touched are a sixty-fourth of the program's at most. Exact for addresses that
 * are multiples of 8, below 2^48; mt_block_bits_can_hold tells.
 *
 * No locks: a bit is set before its block is handed out and cleared before it is given back. */
#ifndef MT_BLOCK_BITS_H
#define MT_BLOCK_BITS_H

#include "base/os.h"

/* Once, at start-up.
 * returns  false when there is no memory: nothing may be asked then */
bool mt_block_bits_begin(void);

static inline bool mt_block_bits_can_hold(const void *block) {
    return ((uintptr_t)block & 7) == 0 && (uintptr_t)block >> 48 == 0;
}

/* Puts a block in.
 * returns  false when there is no memory for its leaf
 * context  any thread, any hook; async-signal-safe */
bool mt_block_bits_set(const void *block);

/* Whether it is in. Any thread, any hook; async-signal-safe. */
bool mt_block_bits_test(const void *block);

/* Takes a block out.
 * returns  true when it was in
 * context  any thread, any hook; async-signal-safe */
bool mt_block_bits_clear(const void *block);

#endif
