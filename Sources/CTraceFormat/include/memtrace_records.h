/* META chunks: length-prefixed records of a process, its images, threads, notes and types.
 *
 * Each record starts on a multiple of 8 with struct mt_record; type 0 ends the chunk. An unknown
 * type is skipped by its length. Strings are bytes without a terminator; their length follows
 * from the record's. docs/trace-format.md, section 5.
 *
 * Rules: those of memtrace_format.h. */
#ifndef MEMTRACE_RECORDS_H
#define MEMTRACE_RECORDS_H

#include <assert.h>
#include <stdint.h>

enum mt_record_type {
    MT_RECORD_END = 0,
    MT_RECORD_PROCESS = 1,   /* struct mt_process_record + strings */
    MT_RECORD_IMAGE = 2,     /* struct mt_image_record + build id + path */
    MT_RECORD_UNLOAD = 3,    /* struct mt_unload_record */
    MT_RECORD_THREAD = 4,    /* struct mt_thread_record + name */
    MT_RECORD_NOTE = 5,      /* struct mt_note_record + text */
    MT_RECORD_MARK = 6,      /* struct mt_mark_record + name */
    MT_RECORD_TYPE = 7,      /* struct mt_type_record + name */
    MT_RECORD_TYPED = 8,     /* struct mt_typed_record */
    MT_RECORD_REFCOUNTS = 9, /* struct mt_refcounts_record + pattern + text */
    MT_RECORD_FIELDS = 10,   /* struct mt_fields_record + offsets */
    MT_RECORD_ZOMBIE = 11,   /* struct mt_zombie_record */
    MT_RECORD_OVERRUN = 12,  /* struct mt_overrun_record */
    MT_RECORD_ACCESS = 13,   /* struct mt_access_record */
    MT_RECORD_SWITCH = 14,   /* struct mt_switch_record */
    MT_RECORD_IGNORED = 15,  /* struct mt_ignored_record */
    MT_RECORD_MAPPING = 16,  /* struct mt_mapping_record + path */
    MT_RECORD_CHECKSUM = 17, /* struct mt_checksum_record */
    MT_RECORD_CRASH = 18     /* struct mt_crash_record */
};

struct mt_record {
    uint32_t length; /* bytes of the record with this header, before padding to 8 */
    uint16_t type;   /* enum mt_record_type; written last */
    uint16_t reserved;
};
static_assert(sizeof(struct mt_record) == 8, "record layout");

/* What runs: executable path, working directory, then the arguments, each ended by one 0 byte. */
struct mt_process_record {
    struct mt_record record;
    uint64_t time; /* event time */
    uint32_t executable_length;
    uint32_t directory_length;
    uint32_t arguments_length;
    uint32_t reserved;
    /* char executable[], directory[], arguments[] */
};
static_assert(sizeof(struct mt_process_record) == 32, "process record layout");

/* One ELF image that was mapped, and when. */
struct mt_image_record {
    struct mt_record record;
    uint64_t time;            /* event time at which the image was first seen */
    uint64_t load_bias;       /* dlpi_addr: add to an ELF virtual address */
    uint64_t start;           /* lowest mapped address of its PT_LOAD segments */
    uint64_t end;             /* one past the highest */
    uint64_t text_start;      /* lowest executable address */
    uint64_t text_end;        /* one past the highest executable address */
    uint32_t image;           /* index: 0, 1, 2 ... in order of appearance, never reused */
    uint32_t first_stack;     /* stack nodes from this id on may lie in it; older ones may not */
    uint32_t build_id_length; /* 0 when it has none */
    uint32_t path_length;
    /* uint8_t build_id[]; char path[] */
};
static_assert(sizeof(struct mt_image_record) == 72, "image record layout");

struct mt_unload_record {
    struct mt_record record;
    uint64_t time;        /* event time at which the image was found missing */
    uint32_t image;       /* index of the IMAGE record */
    uint32_t first_stack; /* stack nodes from this id on do not lie in it */
};
static_assert(sizeof(struct mt_unload_record) == 24, "unload record layout");

/* Index of no thread of the host: its events are the recorder's own (loading libunwind). They are
 * not the host's memory, but their blocks may be freed by the host's loader later. */
#define MT_THREAD_RECORDER 0u

enum mt_thread_state {
    MT_THREAD_BEGAN = 1, /* first seen by the recorder */
    MT_THREAD_NAMED = 2, /* has (another) name */
    MT_THREAD_ENDED = 3  /* the thread is gone */
};

struct mt_thread_record {
    struct mt_record record;
    uint64_t time;   /* event time */
    uint32_t thread; /* index: 1, 2, 3 ... never reused; 0: MT_THREAD_RECORDER */
    uint32_t tid;    /* kernel thread id, may be reused */
    uint32_t state;  /* enum mt_thread_state */
    uint32_t name_length;
    /* char name[] */
};
static_assert(sizeof(struct mt_thread_record) == 32, "thread record layout");

enum mt_note_kind {
    MT_NOTE_TEXT = 1,               /* something the recorder has to say */
    MT_NOTE_CHILD_NOT_FOLLOWED = 2, /* "path: reason"; 1: for all forks from now on */
    MT_NOTE_BYPASSED = 3,           /* "function: image": calls that do not reach the recorder; 1:
                                     * but frees of what they allocate do */
    MT_NOTE_EXEC = 4,               /* path of the program that an exec was tried on */
    MT_NOTE_CHILD = 5,              /* a child process was forked; value = its pid */
    MT_NOTE_REBOUND = 6,            /* path of an image whose calls of the allocator went past the
                                     * recorder until it was loaded; value = whether there may
                                     * have been some */
    MT_NOTE_NO_SNAPSHOT = 7,        /* why there is no whole heap snapshot at the end; value = the
                                     * system's error number */
    MT_NOTE_MAY_CRASH = 8,          /* who started the process to see it crash */
    MT_NOTE_ZOMBIES = 9,            /* freed blocks are kept back; value = so many bytes of them */
    MT_NOTE_REDZONES = 10,          /* blocks have redzones behind them; value = bytes of each */
    MT_NOTE_GUARD = 11,             /* blocks are guarded, one in `value`; text = which sizes */
    MT_NOTE_FAIL_AT = 12,           /* allocations are made to fail; text = which, from 1 */
    MT_NOTE_LIMIT = 13,             /* and those beyond `value` bytes of live blocks */
    MT_NOTE_ATTACHED = 14,          /* the process had run for `value` ns when recording began:
                                     * what it had allocated by then is not known. In the trace
                                     * of a forked child: of the process that it is a copy of */
    MT_NOTE_BUNDLED = 15,           /* "functions: image": an allocator that an image has for itself
                                     * is recorded; value = calls of it that lead to the recorder */
    MT_NOTE_PYTHON_MALLOC = 16,     /* the variable PYTHONMALLOC when the process was started */
    MT_NOTE_TITLE = 17              /* what the process called itself at its end, written over the
                                     * arguments with which it was executed */
};

struct mt_note_record {
    struct mt_record record;
    uint64_t time;
    uint64_t value;
    uint32_t kind; /* enum mt_note_kind */
    uint32_t text_length;
    /* char text[] */
};
static_assert(sizeof(struct mt_note_record) == 32, "note record layout");

struct mt_mark_record {
    struct mt_record record;
    uint64_t time;
    uint32_t thread;
    uint32_t name_length;
    /* char name[] */
};
static_assert(sizeof(struct mt_mark_record) == 24, "mark record layout");

/* Recording was paused or resumed (MT_HEADER_PAUSABLE). */
struct mt_switch_record {
    struct mt_record record;
    uint64_t time;
    uint32_t
        thread; /* that called memtrace_pause or _resume; 0: asked from outside, or forked so */
    uint32_t is_paused; /* from then on */
};
static_assert(sizeof(struct mt_switch_record) == 24, "switch record layout");

/* The program says that a block is not to be reported as leaked, nor what only it holds. */
struct mt_ignored_record {
    struct mt_record record;
    uint64_t time;
    uint64_t address; /* in the block, which is the one that is live there at that time */
    uint32_t thread;
    uint32_t reserved;
};
static_assert(sizeof(struct mt_ignored_record) == 32, "ignored record layout");

/* How it showed that a freed block was used. */
enum mt_zombie_kind {
    MT_ZOMBIE_WRITTEN = 1,        /* written to: seen when it went back to its allocator */
    MT_ZOMBIE_WRITTEN_AT_END = 2, /* the same, seen at the end of the process */
    MT_ZOMBIE_USED = 3,           /* what was read from it was followed, which a signal ended */
    MT_ZOMBIE_WRITTEN_AT_MARK = 4 /* written to: seen at a mark of the program */
};

/* A freed block, kept back from its allocator (MEMTRACE_ZOMBIES), that the program went on using.
 */
struct mt_zombie_record {
    struct mt_record record;
    uint64_t time;   /* event time at which it was noticed */
    uint64_t block;  /* address; the last event of it before was its free */
    uint64_t offset; /* of the first word that was written to */
    uint64_t length; /* bytes from there to the end of the last such word */
    uint32_t kind;   /* enum mt_zombie_kind */
    uint32_t signal; /* 0 where there was none */
    uint32_t thread; /* index: who noticed it, or got the signal; 0: not known */
    uint32_t stack;  /* of what the signal interrupted; 0: none */
};
static_assert(sizeof(struct mt_zombie_record) == 56, "zombie record layout");

/* When it showed that a block was written past. */
enum mt_overrun_kind {
    MT_OVERRUN_AT_FREE = 1, /* when it was freed, or passed to realloc */
    MT_OVERRUN_AT_END = 2,  /* at the end of the process; it was live then */
    MT_OVERRUN_AT_MARK = 3  /* at a mark of the program; it was live then */
};

/* A block with bytes behind it, or in front of it, that nobody may write to (MEMTRACE_REDZONES,
 * MEMTRACE_GUARD), and to which the program has written. */
struct mt_overrun_record {
    struct mt_record record;
    uint64_t time;   /* event time at which it was noticed */
    uint64_t block;  /* address; the last event of it before was its free, if any */
    uint64_t size;   /* requested bytes */
    int64_t offset;  /* from the block's start to the first changed byte behind it, or in front of
                        it: below 0 */
    uint64_t length; /* bytes from there to the end of the last one */
    uint32_t kind;   /* enum mt_overrun_kind */
    uint32_t thread; /* index: who noticed it; 0: not known */
};
static_assert(sizeof(struct mt_overrun_record) == 56, "overrun record layout");

enum mt_access_kind {
    MT_ACCESS_UNKNOWN = 0,
    MT_ACCESS_READ = 1,
    MT_ACCESS_WRITE = 2,
    MT_ACCESS_EXECUTE = 3
};

/* An access beside a guarded block, or to a freed one (MEMTRACE_GUARD), which a signal stopped. */
struct mt_access_record {
    struct mt_record record;
    uint64_t time;     /* event time */
    uint64_t block;    /* address; its last event before was its free, if any */
    uint64_t size;     /* requested bytes */
    uint64_t address;  /* of the first byte that could not be accessed */
    uint32_t kind;     /* enum mt_access_kind */
    uint32_t is_freed; /* 1: the block was freed before */
    uint32_t signal;
    uint32_t thread; /* index; 0: not known */
    uint32_t stack;  /* of what the signal interrupted; 0: none */
    uint32_t reserved;
};
static_assert(sizeof(struct mt_access_record) == 64, "access record layout");

/* What stopped the process: a signal that ended it, or its own abort(). */
struct mt_crash_record {
    struct mt_record record;
    uint64_t time;    /* event time */
    uint64_t address; /* of a fault: what could not be accessed, as the kernel says; else 0 */
    uint32_t signal;
    int32_t code;             /* si_code */
    uint32_t kind;            /* enum mt_access_kind, of a fault */
    uint32_t thread;          /* index; 0: not known */
    uint32_t stack;           /* of what the signal interrupted, or of the call; 0: none */
    uint32_t is_out_of_stack; /* 1: nothing could be read at the stack pointer, or below */
    uint64_t stack_pointer;   /* of what the signal interrupted; 0: not known */
};
static_assert(sizeof(struct mt_crash_record) == 56, "crash record layout");

enum mt_mapping_call {
    MT_MAPPING_MMAP = 1,
    MT_MAPPING_MUNMAP = 2,
    MT_MAPPING_MREMAP = 3, /* what begins is like what was there: protection and flags are its */
    MT_MAPPING_BREAK = 4,  /* brk, sbrk */
    MT_MAPPING_PROTECT = 5 /* mprotect: nothing begins and nothing ends, from `address` on */
};

/* A call of the program that mapped memory, unmapped it, or changed what may be done with it
 * (MEMTRACE_MAPPINGS), and succeeded.
 *
 * What ends does so before what begins, which may be in the same place. With MAP_FIXED a call also
 * ends all that was there. */
struct mt_mapping_record {
    struct mt_record record;
    uint64_t end_time;     /* event time before the call: what ends, ended after it */
    uint64_t time;         /* event time after the call: what begins, began before it */
    uint64_t ended;        /* address of what ends */
    uint64_t ended_length; /* 0: nothing does */
    uint64_t address;      /* of what begins */
    uint64_t length;       /* 0: nothing does */
    uint64_t offset;       /* in the file */
    uint32_t call;         /* enum mt_mapping_call */
    uint32_t stack;        /* 0: none; PROTECT has none */
    uint32_t thread;       /* index; 0: not known */
    uint32_t protection;   /* PROT_*, of MMAP and PROTECT */
    uint32_t flags;        /* MAP_*, of MMAP; MREMAP_*, of MREMAP */
    uint32_t path_length;  /* then path: of the file as it is now, 0 for anonymous memory */
};
static_assert(sizeof(struct mt_mapping_record) == 88, "mapping record layout");

/* What a chunk holds from the end of its header on, up to where it was written then: that never
 * changes again. Of several of a chunk, the one with the greatest length says most. */
struct mt_checksum_record {
    struct mt_record record;
    uint64_t sequence;  /* of the chunk */
    uint64_t checksum;  /* memtrace_checksum.h */
    uint64_t last_time; /* that its header has; 0: none yet */
    uint32_t length;    /* bytes behind the header */
    uint32_t reserved;
};
static_assert(sizeof(struct mt_checksum_record) == 40, "checksum record layout");

/* What the first word of a block says about its type. */
enum mt_type_kind {
    MT_TYPE_SWIFT_CLASS = 1,    /* name: dotted, with generic arguments */
    MT_TYPE_SWIFT_BOX = 2,      /* box of one value; name: its type */
    MT_TYPE_SWIFT_CAPTURES = 3, /* closure context; name: "[MANGLED]" for each captured value */
    MT_TYPE_SWIFT_ERROR = 4,    /* box of an Error; name: its type */
    MT_TYPE_SWIFT_TASK = 5,     /* no name */
    MT_TYPE_SWIFT_JOB = 6,      /* no name */
    MT_TYPE_CXX_CLASS = 7,      /* name: mangled, as in its type_info */
    MT_TYPE_CXX_VTABLE =
        8 /* without RTTI, Embedded Swift, closure of C, libdispatch: by a symbol */
};

/* A type. Types with several words (vtables for construction) have several records. */
struct mt_type_record {
    struct mt_record record;
    uint64_t time;          /* event time */
    uint64_t word;          /* first word of its blocks; 0: known only as a base */
    uint64_t definition;    /* address of its type_info or context descriptor; 0: none */
    uint64_t instance_size; /* of a Swift class; else 0 */
    uint32_t type;          /* 1, 2, 3 ... in order of appearance */
    uint32_t base;          /* type of the first base class of a C++ class; 0: none */
    uint32_t kind;          /* enum mt_type_kind */
    uint32_t name_length;
    /* char name[] */
};
static_assert(sizeof(struct mt_type_record) == 56, "type record layout");

/* Where the stored properties are that a Swift class adds to its superclass's; the metadata that
 * say so are made or completed at run time. After the TYPE record of the word. */
struct mt_fields_record {
    struct mt_record record;
    uint64_t time; /* event time */
    uint64_t word; /* first word of its objects */
    uint32_t count;
    uint32_t reserved;
    /* uint32_t offsets[], in order of declaration */
};
static_assert(sizeof(struct mt_fields_record) == 32, "fields record layout");

/* When the first word was looked at: mt_typed_record.evidence. */
enum mt_type_evidence {
    MT_TYPE_SETTLED = 1, /* a while after the allocation: constructors have run */
    MT_TYPE_FREED = 2    /* when the block was freed: C++ destructors may have put a base's there */
};

/* A block of this size, allocated with this stack, was of this type. Once for each combination. */
struct mt_typed_record {
    struct mt_record record;
    uint64_t time;       /* event time */
    uint64_t size;       /* requested bytes */
    uint32_t stack;      /* of the allocation */
    uint32_t type;       /* type of a TYPE record before this one */
    uint32_t evidence;   /* enum mt_type_evidence */
    uint32_t free_stack; /* MT_TYPE_FREED: stack of the deallocation; else 0 */
};
static_assert(sizeof(struct mt_typed_record) == 40, "typed record layout");

enum mt_refcounts_state {
    MT_REFCOUNTS_ASKED = 1, /* at the start; no text */
    MT_REFCOUNTS_ON = 2,    /* from here on; text: path of the image with the Swift runtime */
    MT_REFCOUNTS_OFF = 3    /* they cannot be recorded safely; text: "path: reason" */
};

/* Whether retains and releases are recorded, and of which types. One for each Swift runtime. */
struct mt_refcounts_record {
    struct mt_record record;
    uint64_t time;  /* event time */
    uint32_t state; /* enum mt_refcounts_state */
    uint32_t pattern_length;
    uint32_t text_length;
    uint32_t reserved;
    /* char pattern[], text[] */
};
static_assert(sizeof(struct mt_refcounts_record) == 32, "refcounts record layout");

#endif
