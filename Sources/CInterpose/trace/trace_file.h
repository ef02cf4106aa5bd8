/* The trace file: creation, header, and windows ("chunks") mapped out of it.
 *
 * The file is mapped shared, so whatever a
 * hook has stored is in the file however the process ends. Space is reserved before a window is
 * mapped, so that a full disk stops the recording instead of raising SIGBUS in the host. */
#ifndef MT_TRACE_FILE_H
#define MT_TRACE_FILE_H

#include "base/config.h"
#include "base/os.h"
#include "memtrace_format.h"
#include <errno.h>

struct mt_trace_file {
    struct mt_file_header *header; /* mapped; NULL while there is no trace */
    uint64_t tag;                  /* first 8 bytes of the trace id */
    uint32_t stopped;              /* 1 once no more chunks can be had */
    char path[PATH_MAX];
};
extern struct mt_trace_file mt_trace_file;

/* What a new trace inherits from its process and its parent. */
struct mt_trace_origin {
    uint8_t session_id[16];
    uint8_t parent_trace_id[16];
    uint32_t flags; /* enum mt_header_flag */
    uint64_t load_ticks;
};

/* Fills in the header of the trace that is created next.
 *
 * context  start-up and forked child, single caller; not async-signal-safe */
void mt_trace_file_prepare(const struct mt_config *config, const struct mt_trace_origin *origin);

/* Creates the trace at `path`, which must not exist, and maps its header, as it was prepared.
 *
 * returns  0, or -errno: -EEXIST when the path is taken, -ENOSPC, -EACCES ...
 * context  start-up and forked child, single caller; not async-signal-safe
 * source   docs/trace-format.md, "File header" */
long mt_trace_file_create(const char *path, const struct mt_config *config);

/* Forgets the parent's file in a forked child: the descriptor is closed if it is still ours, the
 * header mapping (absent in the child) is dropped. The path stays, for naming the child's file. */
void mt_trace_file_abandon(void);

/* Maps a new chunk and writes its header.
 *
 * kind, encoding  enum mt_chunk_kind, enum mt_encoding
 * length          multiple of MT_CHUNK_ALIGNMENT, at most MT_CHUNK_MAX_LENGTH
 * base_time       event time before the first event
 * thread, first_id  as in struct mt_chunk_header
 * returns  the chunk, header included, all other bytes zero; NULL when recording has stopped, the
 *          reason then being in the file header
 * errors   errno untouched
 * context  any thread, no lock needed; async-signal-safe */
struct mt_chunk_header *mt_trace_file_chunk(uint16_t kind, uint16_t encoding, uint32_t length,
                                            uint64_t base_time, uint32_t thread, uint32_t first_id);

/* Why a chunk is not written, beside errors of the system, which are never these two: the trace
 * would be larger than it may be, or its disk have less room than is left to others. */
#define MT_ERROR_MAX_SIZE (-EOVERFLOW)
#define MT_ERROR_KEEP_FREE (-ENOBUFS)

/* Writes a whole chunk that the caller has in memory, and does not map it.
 *
 * chunk    header and content; kind, encoding, length, base_time, thread and first_id are filled in
 * returns  0, -errno (-ENOSPC, -EFBIG ...), or one of the above; that does not stop the recording
 * context  any thread, or a copy of the process after mt_trace_file_reopen_in_copy;
 *          async-signal-safe */
long mt_trace_file_append(struct mt_chunk_header *chunk);

/* Maps the header again in a copy of the process that works for it, where mappings of the trace are
 * missing.
 * returns  0 or -errno */
long mt_trace_file_reopen_in_copy(void);

/* Opens the trace again where the host has closed it: later it may be out of reach.
 *
 * context  any thread; async-signal-safe; errno untouched; nothing once the recording has stopped,
 *          or where the trace is already out of reach */
void mt_trace_file_keep_open(void);

/* Unmaps a chunk; its bytes stay in the file. */
void mt_trace_file_release(struct mt_chunk_header *chunk);

/* Ends recording early: no more chunks. The first reason stays. error is -errno or 0. */
void mt_trace_file_stop(enum mt_stop_reason reason, long error);

/* Whether it has ended so. */
static inline bool mt_trace_file_has_stopped(void) {
    return __atomic_load_n(&mt_trace_file.stopped, __ATOMIC_RELAXED);
}

/* Whether it has ended because the host is in a sandbox: nothing may be asked of the kernel. */
static inline bool mt_trace_file_is_sealed(void) {
    const struct mt_file_header *header = mt_trace_file.header;
    return header && __atomic_load_n(&header->stop_reason, __ATOMIC_RELAXED) == MT_STOP_SANDBOX;
}

/* Notes that operations do not tell which function was meant (MT_HEADER_ONE_FAMILY). */
void mt_trace_file_note_one_family(void);

/* Notes that calls which map memory are recorded (MT_HEADER_MAPPINGS). */
void mt_trace_file_note_mappings(void);

/* Notes that the trace is about to have an event of an announced block (MT_HEADER_ANNOUNCED).
 * Async-signal-safe. */
void mt_trace_file_note_announced(void);

/* Notes that the host asks how much of its blocks it may use; what it keeps there counts.
 * Async-signal-safe. */
void mt_trace_file_note_usable_size(bool is_object);
/* What has been noted, by this process or the one it was forked from. */
enum mt_usable_sizes {
    MT_USABLE_NONE,
    MT_USABLE_OBJECTS, /* of nothing but Swift objects, as the Swift runtime asks of arrays */
    MT_USABLE_ANY
};
extern MT_INTERNAL enum mt_usable_sizes mt_trace_file_usable_sizes;

/* Adds to a coverage counter. Async-signal-safe. */
void mt_trace_file_count(enum mt_counter counter, uint64_t amount);

/* Writes how the process ended, and the time. The last end stays: abort() may be survived, and
 * MT_END_NONE withdraws that of an exec that failed. */
void mt_trace_file_end(enum mt_end_kind kind, int status);

/* Renews the pair of clocks that gives ticks their length. */
void mt_trace_file_sync_clocks(void);

#endif
