/* Adds to a trace while its process writes it, from another process that has mapped the header,
 * shared.
 *
 * Kept apart from the recorder because here nothing of the recorded process runs: it needs no
 * signal, no permission beyond that to write the file, and the process does not notice. */
#ifndef MEMTRACE_LIVE_H
#define MEMTRACE_LIVE_H

#include "memtrace_format.h"

#include <time.h>

/* Takes room for a chunk, as the recorder does: between the two of them, none gets it twice.
 *
 * length   as in struct mt_chunk_header
 * returns  the offset */
static inline uint64_t mt_live_take(struct mt_file_header *header, uint32_t length) {
    return __atomic_fetch_add(&header->file_end, length, __ATOMIC_RELAXED);
}

/* Gives room back that could not be used, if it is still the last; else it reads as zeros. */
static inline void mt_live_give_back(struct mt_file_header *header, uint64_t offset,
                                     uint32_t length) {
    uint64_t end = offset + length;
    __atomic_compare_exchange_n(&header->file_end, &end, offset, 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

/* The number of the next chunk. */
static inline uint64_t mt_live_sequence(struct mt_file_header *header) {
    return __atomic_fetch_add(&header->chunks, 1, __ATOMIC_RELAXED);
}

/* The event time now, by the same counter as the recorder's. */
static inline uint64_t mt_live_event_time(const struct mt_file_header *header) {
    uint64_t ticks;
    if (header->flags & MT_HEADER_TICKS_ARE_NS) {
        struct timespec now = {0, 0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        ticks = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    } else {
#if defined(__x86_64__)
        uint32_t low, high;
        __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high)::"memory");
        ticks = (uint64_t)high << 32 | low;
#else
        __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
#endif
    }
    return ticks >> (header->tick_shift & 63);
}

/* Pauses (1) or resumes (0) the recording of allocations.
 *
 * returns  whether it changes anything */
static inline int mt_live_set_paused(struct mt_file_header *header, uint32_t is_paused) {
    uint32_t before = !is_paused;
    if (!__atomic_compare_exchange_n(&header->paused, &before, is_paused, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return 0;
    if (!is_paused)
        __atomic_fetch_add(&header->resumed, 1, __ATOMIC_RELAXED);
    return 1;
}

/* Whether allocations are not recorded at present. */
static inline int mt_live_is_paused(const struct mt_file_header *header) {
    return __atomic_load_n(&header->paused, __ATOMIC_RELAXED) != 0;
}

/* F_OFD_SETLK, which <fcntl.h> has for _GNU_SOURCE only. */
enum { MT_LIVE_SET_LOCK = 37 };

/* Whether recording is to pause by itself once no process holds a lock (F_OFD_SETLK) on the field:
 * whoever meant to pause it has been killed. Set before it is resumed. */
static inline void mt_live_set_held(struct mt_file_header *header, uint32_t is_held) {
    __atomic_store_n(&header->held, is_held, __ATOMIC_RELEASE);
}

static inline int mt_live_is_held(const struct mt_file_header *header) {
    return __atomic_load_n(&header->held, __ATOMIC_ACQUIRE) != 0;
}

/* Asks for a snapshot with a name; the signal that says so comes afterwards, with `number` as its
 * value. One at a time: who asks holds a lock on the file.
 *
 * number  not 0
 * name    [length], at most MT_ASKED_NAME_SIZE bytes */
static inline void mt_live_ask(struct mt_file_header *header, uint32_t number, const char *name,
                               uint32_t length) {
    header->asked_length = length;
    __builtin_memcpy(header->asked_name, name, length);
    __atomic_store_n(&header->asked, number, __ATOMIC_RELEASE);
}

/* Asks no longer. */
static inline void mt_live_ask_no_more(struct mt_file_header *header) {
    __atomic_store_n(&header->asked, 0, __ATOMIC_RELEASE);
}

/* Whether the snapshot asked for has been begun; its number then. */
static inline int mt_live_is_answered(const struct mt_file_header *header, uint32_t *snapshot) {
    if (__atomic_load_n(&header->asked, __ATOMIC_ACQUIRE) != 0)
        return 0;
    *snapshot = header->asked_snapshot;
    return 1;
}

/* How many snapshots are no longer being written. */
static inline uint32_t mt_live_snapshots_done(const struct mt_file_header *header) {
    return __atomic_load_n(&header->snapshots_done, __ATOMIC_ACQUIRE);
}

#endif
