/* Heap snapshots in a trace: the records and words of SNAPSHOT chunks.
 *
 * Part of the byte format; normative text: docs/trace-format.md, "SNAPSHOT". A snapshot is one
 * BEGIN, its THREADs and REGIONs, in chunks of plain records; the memory, in chunks of words; one
 * END. The number of the snapshot is the chunk header's first_id. */
#ifndef MEMTRACE_SNAPSHOT_H
#define MEMTRACE_SNAPSHOT_H

#include "memtrace_format.h"

enum mt_snapshot_record_type {
    MT_SNAPSHOT_BEGIN = 1,        /* struct mt_snapshot_begin + name */
    MT_SNAPSHOT_THREAD = 2,       /* struct mt_snapshot_thread + registers */
    MT_SNAPSHOT_REGION = 3,       /* struct mt_snapshot_region + path */
    MT_SNAPSHOT_END = 4,          /* struct mt_snapshot_end */
    MT_SNAPSHOT_CLASS = 5,        /* struct mt_snapshot_class + name */
    MT_SNAPSHOT_SIGNAL_STACK = 6, /* struct mt_snapshot_signal_stack */
    MT_SNAPSHOT_KERNEL = 7        /* struct mt_snapshot_kernel */
};

/* Why a snapshot was taken. */
enum mt_snapshot_reason {
    MT_SNAPSHOT_AT_EXIT = 1,    /* exit() or return from main; detail: exit status */
    MT_SNAPSHOT_AT_UEXIT = 2,   /* _exit() or _Exit(); detail: exit status */
    MT_SNAPSHOT_AT_QUICK = 3,   /* quick_exit(); detail: exit status */
    MT_SNAPSHOT_AT_ABORT = 4,   /* abort() */
    MT_SNAPSHOT_AT_SIGNAL = 5,  /* before a signal ended the process; detail: its number */
    MT_SNAPSHOT_ON_REQUEST = 6, /* `memtrace snapshot PID` */
    MT_SNAPSHOT_AT_MARK = 7,    /* with a mark; name: its name */
    MT_SNAPSHOT_INTERVAL = 8,   /* --snapshot-interval */
    MT_SNAPSHOT_BY_PROGRAM = 9  /* memtrace_snapshot() */
};

enum mt_snapshot_flag {
    MT_SNAPSHOT_CONTENTS = 1u << 0 /* every word that is not 0 is kept, not only pointers */
};

struct mt_snapshot_begin {
    struct mt_record record;
    uint64_t time;   /* event time at which the threads stood still */
    uint32_t reason; /* enum mt_snapshot_reason */
    int32_t detail;  /* exit status or signal number, see the reason */
    uint32_t thread; /* index of the thread that took it; 0: not known */
    uint32_t tid;    /* its kernel thread id */
    uint32_t flags;  /* enum mt_snapshot_flag */
    uint32_t name_length;
    /* char name[] */
};
static_assert(sizeof(struct mt_snapshot_begin) == 40, "snapshot begin layout");

/* How a thread was when the image was made. Without registers its sp is 0. */
enum mt_snapshot_thread_state {
    MT_SNAPSHOT_TAKER = 1,    /* took the snapshot: registers of the call into the recorder */
    MT_SNAPSHOT_PARKED = 2,   /* stood still */
    MT_SNAPSHOT_BLOCKING = 3, /* went on: holds back every signal that could park it */
    MT_SNAPSHOT_SILENT = 4    /* went on: did not answer in time (stuck in the kernel) */
};

/* Registers of x86_64, in words: rax rbx rcx rdx rsi rdi rbp rsp r8 ... r15 (16), xmm0 ... xmm15
 * (48), the upper halves of ymm0 ... ymm15 (80), those of zmm0 ... zmm15 (144), zmm16 ... zmm31
 * (272); of aarch64: x0 ... x30, sp (32), v0 ... v31 (96). There are as many as one of these
 * numbers says: parts at the end that hold nothing are left out. Words of vectors are 0 where they
 * can be no pointers, unless MT_SNAPSHOT_CONTENTS is set. */
struct mt_snapshot_thread {
    struct mt_record record;
    uint64_t sp; /* the host's stack pointer; its leaf functions may use 128 bytes below */
    uint64_t pc;
    uint64_t tls_base; /* fs base, tpidr_el0; 0: not known */
    uint32_t thread;   /* index; 0: the recorder has not met it */
    uint32_t tid;      /* kernel thread id */
    uint32_t state;    /* enum mt_snapshot_thread_state */
    uint32_t register_count;
    /* uint64_t registers[] */
};
static_assert(sizeof(struct mt_snapshot_thread) == 48, "snapshot thread layout");

/* Where signal handlers of a thread run that ask for it (sigaltstack); the kernel alone may hold
 * the address. Follows the thread's record, where there is one. */
struct mt_snapshot_signal_stack {
    struct mt_record record;
    uint64_t start;
    uint64_t size;
    uint32_t thread; /* index, as in the thread's record */
    uint32_t tid;
};
static_assert(sizeof(struct mt_snapshot_signal_stack) == 32, "snapshot signal stack layout");

enum mt_snapshot_protection {
    MT_SNAPSHOT_READ = 1u << 0,
    MT_SNAPSHOT_WRITE = 1u << 1,
    MT_SNAPSHOT_EXECUTE = 1u << 2
};

enum mt_snapshot_region_flag {
    MT_SNAPSHOT_SHARED = 1u << 0, /* a shared mapping */
    MT_SNAPSHOT_KEPT = 1u << 1,   /* its words are in the snapshot */
    MT_SNAPSHOT_OWN = 1u << 2     /* the recorder's: neither words of it nor pointers to it */
};

/* A mapping of the process. */
struct mt_snapshot_region {
    struct mt_record record;
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    uint32_t protection; /* enum mt_snapshot_protection */
    uint32_t flags;      /* enum mt_snapshot_region_flag */
    uint32_t path_length;
    uint32_t reserved;
    /* char path[], as the kernel names it: "/usr/lib/libc.so.6", "[heap]", "" */
};
static_assert(sizeof(struct mt_snapshot_region) == 48, "snapshot region layout");

enum mt_snapshot_class_kind {
    MT_SNAPSHOT_PYTHON_CLASS = 1,
    MT_SNAPSHOT_GOBJECT_CLASS = 2, /* GTypeClass of an instantiatable type */
    MT_SNAPSHOT_SWIFT_SLAB = 3,    /* what slabs of Swift's tasks begin with */
    MT_SNAPSHOT_DISPATCH = 4       /* libdispatch: where its thread-local variables are */
};

/* A class of a language runtime, whose objects hold its address. */
struct mt_snapshot_class {
    struct mt_record record;
    uint64_t address;
    uint32_t kind; /* enum mt_snapshot_class_kind */
    uint32_t name_length;
    /* char name[] */
};
static_assert(sizeof(struct mt_snapshot_class) == 24, "snapshot class layout");

enum mt_snapshot_kernel_kind {
    MT_SNAPSHOT_EPOLL = 1, /* comes with an event of epoll; number: epoll's descriptor */
    MT_SNAPSHOT_TIMER = 2  /* comes with a timer's signal; number: the kernel's of the timer */
};

/* A word that a program gave to the kernel, and gets back with what it awaits. */
struct mt_snapshot_kernel {
    struct mt_record record;
    uint64_t word;
    uint32_t kind; /* enum mt_snapshot_kernel_kind */
    uint32_t number;
};
static_assert(sizeof(struct mt_snapshot_kernel) == 24, "snapshot kernel layout");

struct mt_snapshot_end {
    struct mt_record record;
    uint64_t pause_ns;      /* how long the threads stood still, with the fork */
    uint64_t fork_ns;       /* of these, the fork */
    uint64_t duration_ns;   /* until this record was written */
    uint64_t bytes_looked;  /* at for pointers */
    uint64_t words;         /* kept */
    uint64_t bytes_written; /* to the trace, without the chunk of this record */
    uint64_t bytes_skipped; /* of writable regions that could not be read, or were too many */
};
static_assert(sizeof(struct mt_snapshot_end) == 64, "snapshot end layout");

/* ---- MT_ENCODING_WORDS: runs of memory ------------------------------------------------------
 *
 * A run, on a multiple of 8, is this header and `length` bytes of words in ascending order. A
 * length of 0 ends the chunk. For each word, a tag byte:
 *
 *     bits 0-3  words since the one before (first of a run: since 8 below `address`); 0: a varint
 *               follows the tag
 *     bits 4-6  how many bytes of value follow, last: 0 ... 6, 7 stands for 8
 *     bit 7     0: the value is relative to the one before in the run, 1: to the word's own address
 *
 * A value is the zigzag of the difference (modulo 2^64), little-endian, cut to its bytes. */
struct mt_snapshot_run {
    uint64_t address; /* of the first word at the earliest; a multiple of 8 */
    uint32_t length;  /* bytes of words, without padding */
    uint32_t reserved;
};
static_assert(sizeof(struct mt_snapshot_run) == 16, "snapshot run layout");

#define MT_SNAPSHOT_GAP_MASK 0x0fu
#define MT_SNAPSHOT_SIZE_SHIFT 4
#define MT_SNAPSHOT_OWN_ADDRESS 0x80u
#define MT_SNAPSHOT_WORD_MAX 19u /* tag, varint gap, 8 bytes */

#endif
