/* The byte format of a memtrace trace (.mtrace): its file header, its chunks, its stacks.
 *
 * These headers are shared by the recorder (C, writes) and the reader (Swift, reads), so that the
 * two cannot drift apart; this one includes those of what is in every trace. The normative text is
 * docs/trace-format.md; a change here changes that document in the same commit. All integers are
 * little-endian.
 *
 * Rules: no function with linkage, no pointer in a struct, every struct's size asserted. */
#ifndef MEMTRACE_FORMAT_H
#define MEMTRACE_FORMAT_H

#include "memtrace_events.h"
#include "memtrace_operations.h"
#include "memtrace_records.h"
#include <assert.h>
#include <stdint.h>

/* ---- File ---------------------------------------------------------------------------------- */

#define MT_FILE_MAGIC "MEMTRACE" /* the first 8 bytes of a trace */
#define MT_FORMAT_MAJOR 1u       /* a reader refuses another major version */
#define MT_FORMAT_MINOR 2u       /* additions that an older reader can skip */
/* Of a trace with MT_HEADER_ANNOUNCED: a reader that does not know announced blocks would take
 * their events for damage. Nothing else differs. */
#define MT_FORMAT_MAJOR_ANNOUNCED 2u
/* Whether this header describes traces of a major version. */
static inline int mt_format_is_known(uint16_t major) {
    return major == MT_FORMAT_MAJOR || major == MT_FORMAT_MAJOR_ANNOUNCED;
}
#define MT_FILE_HEADER_SIZE 4096u
#define MT_BYTE_ORDER_MARK 0x01020304u

/* Everything after the file header is a chunk that starts on a multiple of this. */
#define MT_CHUNK_ALIGNMENT 4096u
#define MT_CHUNK_MAGIC 0x4b43544du /* "MTCK" */
#define MT_CHUNK_HEADER_SIZE 64u
#define MT_CHUNK_MAX_LENGTH (64u << 20)

/* A packed trace is a plain one, compressed in zstd frames with a seek table. No frame has more
 * content than this; no chunk lies in two frames. */
#define MT_PACK_MAX_FRAME (128u << 20)

/* How the recorded process image ended: mt_file_header.end_kind. */
enum mt_end_kind {
    MT_END_NONE = 0,  /* no end was written: still running, killed, or crashed */
    MT_END_EXIT = 1,  /* exit() or return from main; end_status = exit status */
    MT_END_UEXIT = 2, /* _exit() or _Exit(); end_status = exit status */
    MT_END_QUICK = 3, /* quick_exit(); end_status = exit status */
    MT_END_EXEC = 4,  /* replaced itself by an execve() that succeeded */
    MT_END_ABORT = 5, /* abort() was called by the program (not by libc itself) */
    /* By signal end_status; written by `memtrace record`, or before it is delivered where a heap
     * snapshot is taken then (MEMTRACE_SNAPSHOT_ON_CRASH). */
    MT_END_SIGNAL = 6
};

/* mt_file_header.flags */
enum mt_header_flag {
    MT_HEADER_FORKED = 1u << 0,         /* began by fork: blocks may be inherited from the parent */
    MT_HEADER_FOLLOW = 1u << 1,         /* children are recorded too */
    MT_HEADER_LATE = 1u << 2,           /* recording began after the process had started */
    MT_HEADER_TICKS_ARE_NS = 1u << 3,   /* no invariant cycle counter: ticks come from the clock */
    MT_HEADER_LAUNCHED = 1u << 4,       /* begun by `memtrace record`, not by a bare LD_PRELOAD */
    MT_HEADER_SAMPLED = 1u << 5,        /* holds a sample of the allocations: sample_interval */
    MT_HEADER_USABLE_SIZES = 1u << 6,   /* the process has asked malloc_usable_size */
    MT_HEADER_USABLE_OBJECTS = 1u << 7, /* and of nothing but what looks like Swift objects */
    MT_HEADER_PAUSABLE = 1u << 8, /* holds what was allocated while not paused, which it began as */
    MT_HEADER_ONE_FAMILY = 1u << 9, /* the allocator has one function by several names, such as free
                                     * and operator delete: no call tells which was meant */
    MT_HEADER_ANNOUNCED = 1u << 10, /* holds blocks of the program's own allocators */
    MT_HEADER_MAPPINGS = 1u << 11   /* calls that map memory and unmap it are recorded */
};

/* Coverage counters: what the trace does not hold. Indices into mt_file_header.counters. */
enum mt_counter {
    MT_COUNT_EVENTS_DROPPED = 0,          /* events lost because recording had stopped */
    MT_COUNT_EVENTS_NESTED_LOST = 1,      /* events inside a hook that no lane could take */
    MT_COUNT_EVENTS_BEFORE_START = 2,     /* calls before the recorder could start */
    MT_COUNT_STACKS_CUT = 3,              /* events whose stack was deeper than the limit */
    MT_COUNT_STACKS_MISSING = 4,          /* events without any stack */
    MT_COUNT_STACK_TABLE_FULL = 5,        /* events whose stack could not be stored */
    MT_COUNT_BOOTSTRAP_BLOCKS = 6,        /* blocks served by the bootstrap arena */
    MT_COUNT_BOOTSTRAP_BYTES = 7,         /* their bytes */
    MT_COUNT_IMAGES_LOST = 8,             /* images that could not be described */
    MT_COUNT_CHILDREN_NOT_FOLLOWED = 9,   /* exec targets that cannot be recorded */
    MT_COUNT_EVENTS_NESTED = 10,          /* events recorded by the shared lane without a stack */
    MT_COUNT_THREADS_LOST = 11,           /* threads that got no state and were not recorded */
    MT_COUNT_STACKS_COMPARED = 12,        /* MEMTRACE_UNWINDER=compare: stacks walked both ways */
    MT_COUNT_STACKS_DIFFERENT = 13,       /* of these, where libunwind saw other frames */
    MT_COUNT_STACKS_GUESS_DIFFERENT = 14, /* of these, only above code without unwind tables */
    MT_COUNT_STACKS_LIBUNWIND = 15,       /* stacks with a frame that only libunwind understands */
    MT_COUNT_STACKS_ROOTLESS = 16,        /* stacks that end where no caller can be found */
    MT_COUNT_REFCOUNTS_LOST = 17,     /* retains and releases inside a hook, or after stopping */
    MT_COUNT_ANNOUNCED_LEFT_OUT = 18, /* calls that announce a block or its end, not recorded: not
                                       * all allocations are to be */
    MT_COUNT_USED = 19
};
#define MT_COUNTER_SLOTS 32u

/* Why recording stopped before the process ended: mt_file_header.stop_reason. */
enum mt_stop_reason {
    MT_STOP_NONE = 0,
    MT_STOP_DISK_FULL = 1,  /* ENOSPC, EDQUOT */
    MT_STOP_FILE_LIMIT = 2, /* RLIMIT_FSIZE, EFBIG */
    MT_STOP_NO_MEMORY = 3,  /* mmap refused (RLIMIT_AS, vm.max_map_count) */
    MT_STOP_DESCRIPTOR_LOST =
        4,                 /* the host closed our descriptor and the path does not lead back */
    MT_STOP_IO = 5,        /* any other error; stop_errno says which */
    MT_STOP_REQUESTED = 6, /* MEMTRACE_SKIP names the program */
    MT_STOP_SANDBOX = 7,   /* the program installed a seccomp filter */
    MT_STOP_MAX_SIZE = 8,  /* the trace is as large as it may be: MEMTRACE_MAX_SIZE */
    MT_STOP_KEEP_FREE = 9 /* its disk has no more room than is left to others: MEMTRACE_KEEP_FREE */
};

/* Room for the name of a snapshot that is asked for from outside. */
#define MT_ASKED_NAME_SIZE 1024u

/* The first MT_FILE_HEADER_SIZE bytes. Mapped shared while recording: what changes during a
 * recording (file_end, latest_*, end_*, stop_*, counters) is always current, also after a kill. */
struct mt_file_header {
    char magic[8];               /*    0  MT_FILE_MAGIC, written last when a trace is begun */
    uint16_t major;              /*    8 */
    uint16_t minor;              /*   10 */
    uint32_t byte_order;         /*   12  MT_BYTE_ORDER_MARK */
    uint32_t header_size;        /*   16  MT_FILE_HEADER_SIZE */
    uint32_t flags;              /*   20  enum mt_header_flag */
    uint16_t machine;            /*   24  ELF e_machine of the process (62 x86_64, 183 aarch64) */
    uint16_t pointer_bits;       /*   26  64 */
    uint32_t page_size;          /*   28 */
    uint8_t trace_id[16];        /*   32  random, names this trace */
    uint8_t parent_trace_id[16]; /* 48  of the process that forked or exec'd this one, or zero */
    uint8_t session_id[16];      /*   64  random, shared by all traces of one recording */
    uint32_t pid;                /*   80 */
    uint32_t ppid;               /*   84 */
    uint32_t uid;                /*   88 */
    uint32_t stack_depth;        /*   92  greatest number of frames kept per stack */
    uint64_t start_wall_ns;      /*   96  CLOCK_REALTIME at the start of recording */
    uint64_t start_mono_ns;      /*  104  CLOCK_MONOTONIC at the same moment */
    uint64_t start_ticks;        /*  112  tick counter at the same moment */
    uint64_t latest_mono_ns;     /*  120  a later pair of the same clocks, renewed now and then */
    uint64_t latest_ticks;       /*  128 */
    uint64_t ticks_per_second; /*  136  when known in advance (aarch64, clock); 0: use the pairs */
    uint64_t tick_shift;       /*  144  event times are ticks >> tick_shift */
    uint64_t file_end;         /*  152  offset of the next chunk: bytes of the file in use */
    uint64_t ram_bytes;        /*  160  physical memory of the machine */
    uint64_t limit_as_bytes;   /*  168  RLIMIT_AS, UINT64_MAX when unlimited */
    uint64_t limit_cgroup_bytes; /* 176 memory limit of the cgroup, UINT64_MAX when none */
    uint64_t chunks;             /*  184  number of chunks begun */
    uint32_t end_kind;           /*  192  enum mt_end_kind */
    int32_t end_status;          /*  196 */
    uint64_t end_ticks;          /*  200  when the end was written */
    uint32_t stop_reason;        /*  208  enum mt_stop_reason */
    int32_t stop_errno;          /*  212 */
    uint64_t stop_ticks;         /*  216 */
    uint64_t load_ticks;         /*  224  when the recorder's constructor ran */
    uint64_t fork_ticks;      /*  232  MT_HEADER_FORKED: when the process was found to be a fork */
    uint64_t sample_interval; /* 240  mean bytes between two samples; 0: everything is recorded */
    uint32_t paused;          /*  248  MT_HEADER_PAUSABLE: 1 while allocations are not recorded */
    uint32_t resumed;         /*  252  and how often that has ended */
    uint64_t counters[MT_COUNTER_SLOTS]; /* 256  enum mt_counter */
    uint64_t events;                     /* 512  once packed: number of events */
    uint64_t recorded_bytes;             /* 520  once packed: bytes before; 0: never packed */
    uint32_t snapshot_signal; /*  528  asks the process for a heap snapshot; 0: nothing does */
    uint32_t snapshots;       /*  532  heap snapshots begun */
    uint32_t snapshots_done;  /*  536  of these, no longer being written */
    uint32_t asked;           /*  540  of the snapshot that is asked for by name; 0: none is */
    uint32_t asked_snapshot;  /*  544  number of the one that was taken when asked became 0 */
    uint32_t asked_length;    /*  548  bytes of asked_name */
    char asked_name[MT_ASKED_NAME_SIZE]; /* 552 */
    uint32_t held; /* 1576  while not paused: 1 if it is to pause once nobody locks this field */
    uint32_t fixed_check;   /* 1580  mt_header_check() of what never changes; 0: not known */
    uint64_t main_stack;    /* 1584  where that of the main thread began; above are its arguments */
    uint64_t peak_resident; /* 1592  most bytes in memory at once, of all kinds; 0: not known */
    uint8_t reserved[MT_FILE_HEADER_SIZE - 576 - MT_ASKED_NAME_SIZE];
};
static_assert(sizeof(struct mt_file_header) == MT_FILE_HEADER_SIZE, "file header layout");

/* FNV-1a over some bytes, from what came before on. */
static inline uint32_t mt_fnv(uint32_t check, const void *start, uint32_t length) {
    const uint8_t *bytes = (const uint8_t *)start;
    for (uint32_t i = 0; i < length; i++)
        check = (check ^ bytes[i]) * 16777619u;
    return check;
}
#define MT_FNV_BEGIN 2166136261u

/* FNV-1a over the fields of a file header that stay as they were when the trace was begun: the
 * bytes 12 ..< 20, 24 ..< 120, 136 ..< 152, 160 ..< 184 and 232 ..< 248. Never 0. */
static inline uint32_t mt_header_check(const struct mt_file_header *header) {
    uint32_t check = mt_fnv(MT_FNV_BEGIN, &header->byte_order, 8);
    check = mt_fnv(check, &header->machine, 96);
    check = mt_fnv(check, &header->ticks_per_second, 16);
    check = mt_fnv(check, &header->ram_bytes, 24);
    check = mt_fnv(check, &header->fork_ticks, 16);
    return check ? check : 1;
}

/* ---- Chunks -------------------------------------------------------------------------------- */

enum mt_chunk_kind {
    MT_CHUNK_META = 1,     /* records: process, images, threads, notes */
    MT_CHUNK_STACKS = 2,   /* stack nodes */
    MT_CHUNK_EVENTS = 3,   /* allocations and frees */
    MT_CHUNK_SNAPSHOT = 4, /* heap image: records (plain) or memory (words) */
    MT_CHUNK_SYMBOLS = 5,  /* names of the addresses in STACKS, added by `memtrace pack` */
    MT_CHUNK_INDEX = 6,    /* copies of all chunk headers, added by `memtrace pack` */
    MT_CHUNK_REFCOUNTS = 7 /* retains and releases of Swift objects: memtrace_refcounts.h */
};

enum mt_encoding {
    MT_ENCODING_PLAIN = 0,     /* META and STACKS: the fixed structs below */
    MT_ENCODING_VARINT = 1,    /* EVENTS: tag byte and varints: memtrace_events.h */
    MT_ENCODING_PREDICTED = 2, /* EVENTS, STACKS, REFCOUNTS: what is not expected */
    MT_ENCODING_WORDS = 3,     /* SNAPSHOT: runs of memory words, see memtrace_snapshot.h */
    MT_ENCODING_COLUMNS = 4    /* EVENTS of packed traces, docs/trace-format.md section 9 */
};

/* Starts every chunk. header_check guards the fields above it: a reader that meets a damaged
 * chunk searches the next multiple of MT_CHUNK_ALIGNMENT whose header checks out. */
struct mt_chunk_header {
    uint32_t magic;        /*  0  MT_CHUNK_MAGIC, written last */
    uint32_t header_check; /*  4  mt_chunk_check() of the bytes 8 ..< 56 */
    uint16_t kind;         /*  8  enum mt_chunk_kind */
    uint16_t encoding;     /* 10  enum mt_encoding */
    uint32_t length;       /* 12  bytes of the chunk with this header, multiple of the alignment */
    uint64_t offset;       /* 16  where in the file the chunk was written */
    uint64_t sequence;     /* 24  0, 1, 2 ... in the order chunks were begun, whatever their kind */
    uint64_t base_time;    /* 32  EVENTS: event time before the first event; else the begin */
    uint32_t thread;       /* 40  EVENTS: index of the thread that begins it (0: the shared lane) */
    uint32_t first_id;     /* 44  STACKS: id of the first node */
    uint64_t trace_tag;    /* 48  first 8 bytes of trace_id: chunks of another trace are skipped */
    uint64_t last_time;    /* 56  EVENTS: of the last event, once no more will come; 0: not known.
                                  SNAPSHOT: checksum of all behind the header; 0: not known */
};
static_assert(sizeof(struct mt_chunk_header) == MT_CHUNK_HEADER_SIZE, "chunk header layout");

/* FNV-1a over the bytes 8 ..< 56 of a chunk header. */
static inline uint32_t mt_chunk_check(const struct mt_chunk_header *header) {
    return mt_fnv(MT_FNV_BEGIN, &header->kind, 48);
}

/* ---- STACKS: nodes of the stack tree --------------------------------------------------------
 *
 * A stack is the id of its leaf node; a node names its caller by id. Ids count up from
 * MT_STACK_FIRST through all STACKS chunks; a node is complete once its pc is not 0.
 * A parent's id is always lower than its child's. */

#define MT_STACK_NONE 0u /* no stack was taken */
#define MT_STACK_CUT 1u  /* parent of the outermost known frame of a stack without its root */
#define MT_STACK_FIRST 2u
#define MT_STACK_LAST 0x7fffffffu /* twice an id fits into 32 bits: memtrace_predictor.h */

struct mt_stack_node {
    uint64_t pc;     /* a return address, not adjusted, or a count; never 0. Written last */
    uint32_t parent; /* id of the caller's node; MT_STACK_NONE at the root, or MT_STACK_CUT */
    uint32_t flags;  /* enum mt_stack_node_flag */
};
static_assert(sizeof(struct mt_stack_node) == 16, "stack node layout");

/* MT_ENCODING_PREDICTED: a byte stream of nodes, each with the id after the one before it. A node
 * says what the tables of memtrace_stack_nodes.h do not expect; its tag is written last.
 *
 *   tag      bit 0 set, bits 1-2 parent, bits 3-4 pc, bit 5 MT_NODE_HAS_FLAGS; or MT_NODE_RUN
 *   fields   [varint parent] [pc] [byte flags] */

#define MT_NODE_TAG 0x01u
#define MT_NODE_PARENT_SHIFT 1
#define MT_NODE_PC_SHIFT 3
#define MT_NODE_HAS_FLAGS 0x20u
/* The tag alone: its other bits count nodes with codes 0 and no flags. */
#define MT_NODE_RUN 0x80u
#define MT_NODE_RUN_MAX 15u
#define MT_PC_RECENT 0x10u
#define MT_NODE_MAX_LENGTH 32u

enum mt_node_parent {
    MT_PARENT_PREVIOUS = 0, /* the node before it in the chunk */
    MT_PARENT_DISTANCE = 1, /* varint: its own id less the parent's */
    MT_PARENT_NONE = 2,     /* MT_STACK_NONE */
    MT_PARENT_CUT = 3       /* MT_STACK_CUT */
};

enum mt_node_pc {
    MT_PC_LAST = 0,    /* the pc last called from the parent's pc */
    MT_PC_SECOND = 1,  /* the one before */
    MT_PC_KNOWN = 2,   /* a byte: 0, 1: the ones before that; MT_PC_RECENT + high bits, and a byte
                          of low bits: its index among the recent ones */
    MT_PC_DISTANCE = 3 /* zigzag, from the parent's pc, or from 0 if that is not in the chunk */
};

enum mt_stack_node_flag {
    MT_NODE_EXACT_PC = 1u << 0, /* pc is the interrupted instruction, not a return address */
    MT_NODE_GAP = 1u << 1 /* no frame: at least pc frames were left out here, fewer than 2 * pc */
};

#endif
