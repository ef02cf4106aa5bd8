/* The vector registers of an interrupted thread. What was being copied or swapped through them may
 * be nowhere else at that moment. */
#ifndef MT_VECTOR_REGISTERS_H
#define MT_VECTOR_REGISTERS_H

#include "base/registers.h"

#if defined(__x86_64__)
/* Those that every processor has, then with the parts of AVX and AVX-512. */
enum { MT_VECTOR_WORDS_LEAST = 16 * 2, MT_VECTOR_WORDS = 32 * 8 };
#else
enum { MT_VECTOR_WORDS_LEAST = 32 * 2, MT_VECTOR_WORDS = 32 * 2 };
#endif

/* Copies what the kernel has put aside while a handler runs.
 *
 * saved    mt_registers.vectors; the handler has not returned, or this is a copy of the process
 * words    in the order of struct mt_snapshot_thread; 0 where the processor has or uses none, and
 *          where the memory cannot be read
 * context  where the image is written */
void mt_vector_registers_read(const void *saved, uint64_t words[MT_VECTOR_WORDS]);

#endif
