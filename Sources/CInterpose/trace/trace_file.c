/* Creates the trace and maps windows of it. See trace_file.h. */
#define _GNU_SOURCE
#include "trace/trace_file.h"

#include "base/clock.h"
#include "base/memory_limits.h"
#include "base/resident_memory.h"
#include "memtrace_checksum.h"
#include "trace/trace_descriptor.h"
#include "trace/trace_room.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct mt_trace_file mt_trace_file;

/* Where the kernel put argc, above all frames of the main thread. ld.so exports it. */
extern void *__libc_stack_end __attribute__((weak));

static uint16_t machine(void) {
#if defined(__x86_64__)
    return EM_X86_64;
#else
    return EM_AARCH64;
#endif
}

/* A name for this trace. Where the kernel has no randomness yet, time, pid and an address do. */
static void make_id(uint8_t id[16]) {
    if (mt_os_random(id, 16) == 16)
        return;
    uint64_t words[2] = {mt_os_time_ns(CLOCK_REALTIME) * 0x9e3779b97f4a7c15u,
                         (uint64_t)mt_os_pid() << 32 ^ (uint64_t)(uintptr_t)&words};
    memcpy(id, words, 16);
}

enum mt_usable_sizes mt_trace_file_usable_sizes;

static uint32_t usable_size_flags(enum mt_usable_sizes sizes) {
    return (sizes != MT_USABLE_NONE ? MT_HEADER_USABLE_SIZES : 0u) |
           (sizes == MT_USABLE_OBJECTS ? MT_HEADER_USABLE_OBJECTS : 0u);
}

/* The header of the next trace, but for its magic. Not on the stack, which may have 16 KiB. */
static struct mt_file_header g_prepared;

void mt_trace_file_prepare(const struct mt_config *config, const struct mt_trace_origin *origin) {
    struct mt_file_header *header = &g_prepared;
    memset(header, 0, sizeof *header);
    header->major = MT_FORMAT_MAJOR;
    header->minor = MT_FORMAT_MINOR;
    header->byte_order = MT_BYTE_ORDER_MARK;
    header->header_size = MT_FILE_HEADER_SIZE;
    header->flags =
        origin->flags | (mt_clock_is_ns ? MT_HEADER_TICKS_ARE_NS : 0u) |
        (config->follow ? MT_HEADER_FOLLOW : 0u) | (config->launched ? MT_HEADER_LAUNCHED : 0u) |
        (config->sample ? MT_HEADER_SAMPLED : 0u) | (config->paused ? MT_HEADER_PAUSABLE : 0u) |
        usable_size_flags(mt_trace_file_usable_sizes);
    header->machine = machine();
    header->pointer_bits = 64;
    header->page_size = MT_PAGE_SIZE;
    make_id(header->trace_id);
    memcpy(header->parent_trace_id, origin->parent_trace_id, 16);
    memcpy(header->session_id, origin->session_id, 16);
    header->pid = (uint32_t)mt_os_pid();
    header->ppid = (uint32_t)mt_os_ppid();
    header->uid = (uint32_t)mt_os_uid();
    header->stack_depth = (uint32_t)config->depth;
    header->start_wall_ns = mt_os_time_ns(CLOCK_REALTIME);
    header->start_mono_ns = mt_os_time_ns(CLOCK_MONOTONIC);
    header->start_ticks = mt_clock_after();
    header->latest_mono_ns = header->start_mono_ns;
    header->latest_ticks = header->start_ticks;
    header->ticks_per_second = mt_clock_frequency();
    header->tick_shift = MT_TICK_SHIFT;
    header->file_end = MT_FILE_HEADER_SIZE;
    header->ram_bytes = mt_os_ram_bytes();
    header->limit_as_bytes = mt_os_limit(RLIMIT_AS);
    header->limit_cgroup_bytes = mt_memory_limit_of_cgroup();
    header->sample_interval = config->sample;
    header->paused = (uint32_t)config->paused;
    mt_resident_begin((origin->flags & (MT_HEADER_FORKED | MT_HEADER_LATE)) != 0);
    header->load_ticks = origin->load_ticks;
    if (origin->flags & MT_HEADER_FORKED)
        header->fork_ticks = header->start_ticks;
    if (&__libc_stack_end)
        header->main_stack = (uint64_t)(uintptr_t)__libc_stack_end;
    header->fixed_check = mt_header_check(header);
}

/* The magic makes it a trace: last. */
static void write_header(struct mt_file_header *header) {
    enum { MAGIC = sizeof header->magic };
    memcpy((char *)header + MAGIC, (const char *)&g_prepared + MAGIC, sizeof g_prepared - MAGIC);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(header->magic, MT_FILE_MAGIC, MAGIC);
}

/* A process may be killed at any moment: between the file's creation and its magic come the calls
 * that it takes, and no other. */
long mt_trace_file_create(const char *path, const struct mt_config *config) {
    long fd = mt_os_open(MT_AT_CWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    if (fd < 0)
        return fd;
    long error = mt_os_reserve((int)fd, 0, MT_FILE_HEADER_SIZE);
    struct mt_file_header *header = NULL;
    if (error >= 0)
        header = mt_os_map_file((int)fd, 0, MT_FILE_HEADER_SIZE, &error);
    if (!header) {
        mt_os_close((int)fd);
        mt_os_unlink(path);
        return error;
    }
    write_header(header);
    mt_os_open_to_owner((int)fd); /* whose umask is that of the host */
    mt_trace_descriptor_take((int)fd);
    memcpy(&mt_trace_file.tag, header->trace_id, 8);
    mt_trace_file.stopped = 0;
    mt_trace_room_begin(config->max_size, config->keep_free);
    if (path != mt_trace_file.path)
        strncpy(mt_trace_file.path, path, sizeof mt_trace_file.path - 1);
    __atomic_store_n(&mt_trace_file.header, header, __ATOMIC_RELEASE);
    return 0;
}

void mt_trace_file_abandon(void) {
    mt_trace_descriptor_close();
    mt_trace_file.header = NULL;
    mt_trace_file.stopped = 0;
}

static enum mt_stop_reason stop_reason(long error) {
    switch (-error) {
    case ENOSPC:
    case EDQUOT:
        return MT_STOP_DISK_FULL;
    case EFBIG:
        return MT_STOP_FILE_LIMIT;
    case ENOMEM:
        return MT_STOP_NO_MEMORY;
    case EBADF:
    case ENOENT:
    case EMFILE:
    case EACCES:
        return MT_STOP_DESCRIPTOR_LOST;
    default:
        return MT_STOP_IO;
    }
}

void mt_trace_file_stop(enum mt_stop_reason reason, long error) {
    struct mt_file_header *header = mt_trace_file.header;
    if (!header || __atomic_exchange_n(&mt_trace_file.stopped, 1, __ATOMIC_RELAXED))
        return;
    header->stop_errno = (int32_t)-error;
    header->stop_ticks = mt_clock_after();
    __atomic_store_n(&header->stop_reason, reason, __ATOMIC_RELEASE);
}

/* Whether the trace may grow by so many bytes. */
static enum mt_stop_reason room_for(int fd, uint32_t length) {
    uint64_t end = __atomic_load_n(&mt_trace_file.header->file_end, __ATOMIC_RELAXED);
    return mt_trace_room_ask(fd, end, length);
}

static void *map_at_end(int fd, uint32_t length, uint64_t *offset, long *error) {
    *offset = __atomic_fetch_add(&mt_trace_file.header->file_end, length, __ATOMIC_RELAXED);
    *error = mt_os_reserve(fd, *offset, length);
    return *error >= 0 ? mt_os_map_file(fd, *offset, length, error) : NULL;
}

/* Stops the recording where it gives nothing. */
static void *map_new(uint32_t length, uint64_t *offset) {
    struct mt_trace_descriptor borrowed = mt_trace_descriptor_borrow(mt_trace_file.path);
    long error = borrowed.fd < 0 ? borrowed.fd : 0;
    enum mt_stop_reason refusal = error ? MT_STOP_NONE : room_for(borrowed.fd, length);
    void *chunk = error || refusal ? NULL : map_at_end(borrowed.fd, length, offset, &error);
    mt_trace_descriptor_give_back(borrowed);
    if (!chunk)
        mt_trace_file_stop(refusal ? refusal : stop_reason(error), error);
    return chunk;
}

enum { CHUNKS_PER_PEAK = 16 };

static void note_peak(struct mt_file_header *header, uint64_t peak) {
    if (peak)
        __atomic_store_n(&header->peak_resident, peak, __ATOMIC_RELAXED);
}

struct mt_chunk_header *mt_trace_file_chunk(uint16_t kind, uint16_t encoding, uint32_t length,
                                            uint64_t base_time, uint32_t thread,
                                            uint32_t first_id) {
    struct mt_file_header *file = mt_trace_file.header;
    if (!file || mt_trace_file_has_stopped())
        return NULL;
    uint64_t offset;
    struct mt_chunk_header *chunk = map_new(length, &offset);
    if (!chunk)
        return NULL;
    chunk->kind = kind;
    chunk->encoding = encoding;
    chunk->length = length;
    chunk->offset = offset;
    chunk->sequence = __atomic_fetch_add(&file->chunks, 1, __ATOMIC_RELAXED);
    chunk->base_time = base_time;
    chunk->thread = thread;
    chunk->first_id = first_id;
    chunk->trace_tag = mt_trace_file.tag;
    chunk->header_check = mt_chunk_check(chunk);
    __atomic_store_n(&chunk->magic, MT_CHUNK_MAGIC, __ATOMIC_RELEASE);
    mt_trace_file_sync_clocks();
    /* The kernel looks at every thread of the process for it. */
    if (chunk->sequence % CHUNKS_PER_PEAK == 0)
        note_peak(file, mt_resident_peak());
    return chunk;
}

static long write_at(int fd, const void *bytes, size_t length, uint64_t offset) {
    for (size_t done = 0; done < length;) {
        long count = mt_os_pwrite(fd, (const uint8_t *)bytes + done, length - done, offset + done);
        if (count <= 0)
            return count < 0 ? count : -ENOSPC;
        done += (size_t)count;
    }
    return 0;
}

/* Gives back space that could not be used, if it is the last; else it stays, and reads as zeros. */
static void give_back(uint64_t offset, uint64_t length) {
    uint64_t end = offset + length;
    __atomic_compare_exchange_n(&mt_trace_file.header->file_end, &end, offset, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Space is reserved before anything is written: what a full disk let through would lie in the way
 * of the next chunk, which must begin with zeros. */
static long append(int fd, struct mt_chunk_header *chunk) {
    struct mt_file_header *file = mt_trace_file.header;
    enum mt_stop_reason refusal = room_for(fd, chunk->length);
    if (refusal != MT_STOP_NONE)
        return refusal == MT_STOP_MAX_SIZE ? MT_ERROR_MAX_SIZE : MT_ERROR_KEEP_FREE;
    chunk->offset = __atomic_fetch_add(&file->file_end, chunk->length, __ATOMIC_RELAXED);
    long error = mt_os_reserve(fd, chunk->offset, chunk->length);
    if (error < 0) {
        give_back(chunk->offset, chunk->length);
        return error;
    }
    error = write_at(fd, chunk + 1, chunk->length - sizeof *chunk, chunk->offset + sizeof *chunk);
    if (error < 0)
        return error;
    chunk->sequence = __atomic_fetch_add(&file->chunks, 1, __ATOMIC_RELAXED);
    chunk->trace_tag = mt_trace_file.tag;
    chunk->last_time = mt_checksum_of(chunk->sequence, 0, chunk + 1, chunk->length - sizeof *chunk);
    chunk->header_check = mt_chunk_check(chunk);
    chunk->magic = MT_CHUNK_MAGIC;
    return write_at(fd, chunk, sizeof *chunk, chunk->offset);
}

long mt_trace_file_append(struct mt_chunk_header *chunk) {
    if (!mt_trace_file.header)
        return -ENOENT;
    struct mt_trace_descriptor borrowed = mt_trace_descriptor_borrow(mt_trace_file.path);
    long error = borrowed.fd < 0 ? borrowed.fd : append(borrowed.fd, chunk);
    mt_trace_descriptor_give_back(borrowed);
    return error;
}

long mt_trace_file_reopen_in_copy(void) {
    long error = 0;
    struct mt_trace_descriptor borrowed = mt_trace_descriptor_borrow(mt_trace_file.path);
    if (borrowed.fd < 0)
        return borrowed.fd;
    mt_trace_file.header = mt_os_map_file(borrowed.fd, 0, MT_FILE_HEADER_SIZE, &error);
    mt_trace_descriptor_give_back(borrowed);
    return mt_trace_file.header ? 0 : error;
}

void mt_trace_file_keep_open(void) {
    if (mt_trace_file.header && !mt_trace_file_has_stopped())
        mt_trace_descriptor_give_back(mt_trace_descriptor_borrow(mt_trace_file.path));
}

void mt_trace_file_release(struct mt_chunk_header *chunk) {
    mt_os_unmap(chunk, chunk->length);
}

static void add_flag(enum mt_header_flag flag) {
    if (mt_trace_file.header)
        __atomic_fetch_or(&mt_trace_file.header->flags, flag, __ATOMIC_SEQ_CST);
}

void mt_trace_file_note_one_family(void) {
    add_flag(MT_HEADER_ONE_FAMILY);
}

void mt_trace_file_note_mappings(void) {
    add_flag(MT_HEADER_MAPPINGS);
}

void mt_trace_file_note_announced(void) {
    struct mt_file_header *header = mt_trace_file.header;
    if (!header || (__atomic_load_n(&header->flags, __ATOMIC_RELAXED) & MT_HEADER_ANNOUNCED))
        return;
    __atomic_store_n(&header->major, MT_FORMAT_MAJOR_ANNOUNCED, __ATOMIC_RELEASE);
    add_flag(MT_HEADER_ANNOUNCED);
}

void mt_trace_file_note_usable_size(bool is_object) {
    enum mt_usable_sizes sizes = is_object ? MT_USABLE_OBJECTS : MT_USABLE_ANY;
    enum mt_usable_sizes known = __atomic_load_n(&mt_trace_file_usable_sizes, __ATOMIC_RELAXED);
    while (known < sizes)
        if (__atomic_compare_exchange_n(&mt_trace_file_usable_sizes, &known, sizes, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            break;
    struct mt_file_header *header = mt_trace_file.header;
    if (known >= sizes || !header)
        return;
    __atomic_fetch_or(&header->flags, usable_size_flags(sizes), __ATOMIC_SEQ_CST);
    /* Another thread may have asked of something else meanwhile. */
    if (__atomic_load_n(&mt_trace_file_usable_sizes, __ATOMIC_SEQ_CST) == MT_USABLE_ANY)
        __atomic_fetch_and(&header->flags, ~(uint32_t)MT_HEADER_USABLE_OBJECTS, __ATOMIC_SEQ_CST);
}

void mt_trace_file_count(enum mt_counter counter, uint64_t amount) {
    struct mt_file_header *header = mt_trace_file.header;
    if (header)
        __atomic_fetch_add(&header->counters[counter], amount, __ATOMIC_RELAXED);
}

void mt_trace_file_end(enum mt_end_kind kind, int status) {
    struct mt_file_header *header = mt_trace_file.header;
    if (!header)
        return;
    mt_trace_file_sync_clocks();
    note_peak(header, mt_resident_final_peak());
    header->end_status = status;
    header->end_ticks = mt_clock_after();
    __atomic_store_n(&header->end_kind, kind, __ATOMIC_RELEASE);
}

void mt_trace_file_sync_clocks(void) {
    struct mt_file_header *header = mt_trace_file.header;
    if (!header)
        return;
    header->latest_mono_ns = mt_os_time_ns(CLOCK_MONOTONIC);
    header->latest_ticks = mt_clock_after();
}
