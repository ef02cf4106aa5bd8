/* Checksums of what has been written into chunks: CHECKSUM records.
 *
 * Full chunks are summed up before they are unmapped, those that are being filled when the process
 * ends: of what is complete by then. Threads that run go on writing meanwhile, so that nobody else
 * looks into their windows: their bytes are read from the file. */
#ifndef MT_CHUNK_CHECKSUM_H
#define MT_CHUNK_CHECKSUM_H

#include "base/os.h"
#include "memtrace_format.h"

/* Where a chunk that is being filled lies, for threads other than the one that fills it. */
struct mt_open_chunk {
    const struct mt_chunk_header *chunk; /* not to be looked into */
    uint64_t offset;                     /* in the file; 0: none, or about to be another */
};

/* Before another chunk takes its place. */
static inline void mt_open_chunk_leave(struct mt_open_chunk *open) {
    __atomic_store_n(&open->offset, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Once the writer's cursor is in the chunk. */
static inline void mt_open_chunk_enter(struct mt_open_chunk *open,
                                       const struct mt_chunk_header *chunk) {
    __atomic_store_n(&open->chunk, chunk, __ATOMIC_RELAXED);
    __atomic_store_n(&open->offset, chunk->offset, __ATOMIC_RELEASE);
}

/* A part of a chunk that will not change any more. */
struct mt_chunk_part {
    uint64_t offset; /* of the chunk in the file */
    uint64_t length; /* of the part, which begins behind the header; 0: there is none */
};

/* What has been written into a chunk that another thread may be filling.
 *
 * cursor   the writer's: everything before it is complete
 * context  any thread, no lock; async-signal-safe */
struct mt_chunk_part mt_open_chunk_part(const struct mt_open_chunk *open, uint8_t *const *cursor);

/* Writes the checksum of a part, which it reads from the file. Nothing happens where the file, or
 * that chunk of this trace, cannot be found.
 * context  any thread; waits for META's lock; errno untouched */
void mt_chunk_part_check(struct mt_chunk_part part);

/* Writes the checksum of a chunk that is mapped and full, where it is of this trace, and unmaps it.
 *
 * full     NULL: there is none
 * context  as mt_chunk_part_check */
void mt_chunk_finish(struct mt_chunk_header *full);

#endif
