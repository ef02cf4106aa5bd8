/* The byte format of a memtrace trace (.mtrace): constants and fixed structs.
 *
 * This one header is shared by the recorder (C, writes) and the reader (Swift, reads), so that
 * the two cannot drift apart. The normative text is docs/trace-format.md; a change here changes
 * that document in the same commit. All integers are little-endian.
 *
 * Rules: no function with linkage, no pointer in a struct, every struct's size asserted. */
#ifndef MEMTRACE_FORMAT_H
#define MEMTRACE_FORMAT_H

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
    MT_ENCODING_VARINT = 1,    /* EVENTS: tag byte and varints, see below */
    MT_ENCODING_PREDICTED = 2, /* EVENTS, STACKS, REFCOUNTS: what is not expected, see below */
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

/* ---- META: length-prefixed records ----------------------------------------------------------
 *
 * Each record starts on a multiple of 8 with struct mt_record; type 0 ends the chunk. An unknown
 * type is skipped by its length. Strings are bytes without a terminator; their length follows
 * from the record's. */

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
    MT_RECORD_CHECKSUM = 17  /* struct mt_checksum_record */
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
    MT_NOTE_BUNDLED = 15            /* "functions: image": an allocator that an image has for itself
                                     * is recorded; value = calls of it that lead to the recorder */
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

/* ---- EVENTS, MT_ENCODING_VARINT --------------------------------------------------------------
 *
 * A byte stream after the chunk header. The tag is written last, so an event exists once its tag
 * is not 0; tag 0 ends the chunk. Reset at the start of every chunk: time = base_time,
 * address = 0, stack = 0, thread = mt_chunk_header.thread.
 *
 *   tag      bits 0-5 operation (enum mt_operation), bit 6 MT_TAG_FINE, bit 7 reserved (0)
 *   varint   unsigned LEB128, at most 10 bytes
 *   zigzag   varint of (n << 1) ^ (n >> 63)
 *
 *   time     varint   added to the running time
 *   address  zigzag   in units of 16 bytes, or of 1 byte with MT_TAG_FINE; added to the running
 *                     address, which is the address of the previous event that had one
 *   stack    zigzag   added to the running stack id
 *
 * Fields per class of operation, in this order:
 *   allocation   time address stack size [alignment]       stamped after the real call
 *   deallocation time address stack [size] [alignment]     stamped before the real call
 *   REALLOC_BEGIN time address stack                       the old block, before the real call
 *   REALLOC_END  time address size                         the new block, after the real call
 *   REALLOC_FAIL time size                                 the old block lives on
 *   FAILED       time stack size function                  an allocation that returned NULL
 *   THREAD       time thread                               what follows is of this thread
 *   REALLOC_LEFT time size                                 the new block is not in the sample
 *
 * size and alignment are varints in bytes; function is a varint operation code; thread a varint
 * index. [size] and [alignment] are there for the operations that say so below.
 * One thread writes REALLOC_BEGIN and its END, FAIL or LEFT next to each other. */

#define MT_TAG_OPERATION 0x3fu
#define MT_TAG_FINE 0x40u
#define MT_EVENT_MAX_LENGTH 64u

/* ---- EVENTS, MT_ENCODING_PREDICTED ------------------------------------------------------------
 *
 * As above, a byte stream of events whose tag is written last; an event says only what the tables
 * of memtrace_predictor.h do not expect. docs/trace-format.md, section 7.
 *
 *   tag      bits 0-1 site, bit 2 a time follows, bits 3-4 operation and size, bits 5-7 address;
 *            site 0: bits 3-7 enum mt_control */

#define MT_TAG_SITE 0x03u
#define MT_TAG_TIME 0x04u
#define MT_TAG_SIZE_SHIFT 3
#define MT_TAG_SIZE 0x03u
#define MT_TAG_ADDRESS_SHIFT 5
#define MT_TAG_CONTROL_SHIFT 3

enum mt_tag_site {
    MT_SITE_NONE = 0,       /* a control event */
    MT_SITE_AFTER_PAIR = 1, /* the one that followed the two latest sites last time */
    MT_SITE_AFTER_ONE = 2,  /* the one that followed the latest site last time */
    MT_SITE_WRITTEN = 3     /* a byte: its index among the recent ones, or 0 and zigzag from the
                               one last written so */
};

enum mt_tag_size {
    MT_SIZE_LAST = 0,     /* as the last event of the site */
    MT_SIZE_OTHER = 1,    /* the site's other size */
    MT_SIZE_WRITTEN = 2,  /* varint */
    MT_SIZE_OPERATION = 3 /* byte operation, [varint size], [varint alignment] */
};

/* Of an event that frees or allocates. */
enum mt_tag_address {
    MT_ADDRESS_DISTANCE_16 = 4, /* zigzag, times 16, from the last address freed or allocated */
    MT_ADDRESS_DISTANCE = 5     /* zigzag, from the same */
};

enum mt_tag_new_address {
    MT_NEW_LAST_FREED = 0, /* the last address freed in its size class */
    MT_NEW_BEHIND = 1,     /* just behind the block allocated last */
    MT_NEW_KEPT = 2,       /* the last address freed in any class */
    MT_NEW_FREED = 3       /* byte: how many frees ago in its size class */
};

enum mt_tag_freed_address {
    MT_FREED_NEWEST = 0,   /* the block allocated last */
    MT_FREED_SECOND = 1,   /* the one before it */
    MT_FREED_NEXT = 2,     /* the one allocated after the one freed last */
    MT_FREED_PREVIOUS = 3, /* the one allocated before the one freed last */
    MT_FREED_AGE = 6       /* varint: how many allocations ago it was allocated */
};

enum mt_control {
    MT_CONTROL_THREAD = 1, /* varint thread: what follows is of this thread */
    MT_CONTROL_FAILED = 2, /* varint stack, varint size, byte operation: it returned NULL */
    MT_CONTROL_RESET = 3   /* varint time: empties the tables and sets the time */
};

/* X(code, name, C name, family, class, has_size, has_alignment) where has_size says whether a
 * deallocation carries a size field; allocations always do. */
#define MT_FOR_EACH_OPERATION(X)                                                                   \
    X(1, MALLOC, "malloc", MALLOC, ALLOCATION, 1, 0)                                               \
    X(2, CALLOC, "calloc", MALLOC, ALLOCATION, 1, 0)                                               \
    X(3, REALLOC, "realloc", MALLOC, ALLOCATION, 1, 0)           /* realloc(NULL, n) */            \
    X(4, REALLOCARRAY, "reallocarray", MALLOC, ALLOCATION, 1, 0) /* reallocarray(NULL, n, m) */    \
    X(5, POSIX_MEMALIGN, "posix_memalign", MALLOC, ALLOCATION, 1, 1)                               \
    X(6, ALIGNED_ALLOC, "aligned_alloc", MALLOC, ALLOCATION, 1, 1)                                 \
    X(7, MEMALIGN, "memalign", MALLOC, ALLOCATION, 1, 1)                                           \
    X(8, VALLOC, "valloc", MALLOC, ALLOCATION, 1, 0)                                               \
    X(9, PVALLOC, "pvalloc", MALLOC, ALLOCATION, 1, 0)                                             \
    X(10, NEW, "operator new", NEW, ALLOCATION, 1, 0)                                              \
    X(11, NEW_NOTHROW, "operator new(nothrow)", NEW, ALLOCATION, 1, 0)                             \
    X(12, NEW_ALIGNED, "operator new(align_val_t)", NEW_ALIGNED, ALLOCATION, 1, 1)                 \
    X(13, NEW_ALIGNED_NOTHROW, "operator new(align_val_t, nothrow)", NEW_ALIGNED, ALLOCATION, 1,   \
      1)                                                                                           \
    X(14, NEW_ARRAY, "operator new[]", NEW_ARRAY, ALLOCATION, 1, 0)                                \
    X(15, NEW_ARRAY_NOTHROW, "operator new[](nothrow)", NEW_ARRAY, ALLOCATION, 1, 0)               \
    X(16, NEW_ARRAY_ALIGNED, "operator new[](align_val_t)", NEW_ARRAY_ALIGNED, ALLOCATION, 1, 1)   \
    X(17, NEW_ARRAY_ALIGNED_NOTHROW, "operator new[](align_val_t, nothrow)", NEW_ARRAY_ALIGNED,    \
      ALLOCATION, 1, 1)                                                                            \
    X(18, ANNOUNCED, "memtrace_allocated", ANNOUNCED, ALLOCATION, 1, 0)                            \
    X(24, FREE, "free", MALLOC, DEALLOCATION, 0, 0)                                                \
    X(25, CFREE, "cfree", MALLOC, DEALLOCATION, 0, 0)                                              \
    X(26, REALLOC_FREE, "realloc(p, 0)", MALLOC, DEALLOCATION, 0, 0)                               \
    X(27, FREE_SIZED, "free_sized", MALLOC, DEALLOCATION, 1, 0)                                    \
    X(28, FREE_ALIGNED_SIZED, "free_aligned_sized", MALLOC, DEALLOCATION, 1, 1)                    \
    X(29, DELETE, "operator delete", NEW, DEALLOCATION, 0, 0)                                      \
    X(30, DELETE_NOTHROW, "operator delete(nothrow)", NEW, DEALLOCATION, 0, 0)                     \
    X(31, DELETE_SIZED, "operator delete(size_t)", NEW, DEALLOCATION, 1, 0)                        \
    X(32, DELETE_ALIGNED, "operator delete(align_val_t)", NEW_ALIGNED, DEALLOCATION, 0, 1)         \
    X(33, DELETE_ALIGNED_NOTHROW, "operator delete(align_val_t, nothrow)", NEW_ALIGNED,            \
      DEALLOCATION, 0, 1)                                                                          \
    X(34, DELETE_SIZED_ALIGNED, "operator delete(size_t, align_val_t)", NEW_ALIGNED, DEALLOCATION, \
      1, 1)                                                                                        \
    X(35, DELETE_ARRAY, "operator delete[]", NEW_ARRAY, DEALLOCATION, 0, 0)                        \
    X(36, DELETE_ARRAY_NOTHROW, "operator delete[](nothrow)", NEW_ARRAY, DEALLOCATION, 0, 0)       \
    X(37, DELETE_ARRAY_SIZED, "operator delete[](size_t)", NEW_ARRAY, DEALLOCATION, 1, 0)          \
    X(38, DELETE_ARRAY_ALIGNED, "operator delete[](align_val_t)", NEW_ARRAY_ALIGNED, DEALLOCATION, \
      0, 1)                                                                                        \
    X(39, DELETE_ARRAY_ALIGNED_NOTHROW, "operator delete[](align_val_t, nothrow)",                 \
      NEW_ARRAY_ALIGNED, DEALLOCATION, 0, 1)                                                       \
    X(40, DELETE_ARRAY_SIZED_ALIGNED, "operator delete[](size_t, align_val_t)", NEW_ARRAY_ALIGNED, \
      DEALLOCATION, 1, 1)                                                                          \
    X(41, ANNOUNCED_END, "memtrace_freed", ANNOUNCED, DEALLOCATION, 0, 0)                          \
    X(48, REALLOC_BEGIN, "realloc", MALLOC, CONTROL, 0, 0)                                         \
    X(49, REALLOC_END, "realloc", MALLOC, CONTROL, 1, 0)                                           \
    X(50, REALLOC_FAIL, "realloc", MALLOC, CONTROL, 1, 0)                                          \
    X(51, FAILED, "failed allocation", MALLOC, CONTROL, 1, 0)                                      \
    X(52, THREAD, "thread", MALLOC, CONTROL, 0, 0)                                                 \
    X(53, REALLOC_LEFT, "realloc", MALLOC, CONTROL, 1, 0)

enum mt_operation {
#define MT_OPERATION_CODE(code, name, c_name, family, class_, has_size, has_alignment)             \
    MT_OP_##name = code,
    MT_FOR_EACH_OPERATION(MT_OPERATION_CODE)
#undef MT_OPERATION_CODE
};

/* Which deallocation goes with which allocation. */
enum mt_family {
    MT_FAMILY_MALLOC = 1,
    MT_FAMILY_NEW = 2,
    MT_FAMILY_NEW_ALIGNED = 3,
    MT_FAMILY_NEW_ARRAY = 4,
    MT_FAMILY_NEW_ARRAY_ALIGNED = 5,
    MT_FAMILY_ANNOUNCED = 6 /* blocks of the program's own allocators, beside all others: one may
                             * begin where a block of another family does that it lies in */
};

enum mt_operation_class {
    MT_CLASS_UNKNOWN = 0,
    MT_CLASS_ALLOCATION = 1,
    MT_CLASS_DEALLOCATION = 2,
    MT_CLASS_CONTROL = 3
};

/* The table above as data, for readers that cannot expand the macro. */
struct mt_operation_info {
    uint8_t code, family, operation_class, has_size, has_alignment;
    const char *name;
};

static inline struct mt_operation_info mt_operation_info(uint8_t code) {
    switch (code) {
#define MT_OPERATION_INFO(code_, name_, c_name, family_, class_, has_size_, has_alignment_)        \
case code_:                                                                                        \
    return (struct mt_operation_info){code_,     MT_FAMILY_##family_, MT_CLASS_##class_,           \
                                      has_size_, has_alignment_,      c_name};
        MT_FOR_EACH_OPERATION(MT_OPERATION_INFO)
#undef MT_OPERATION_INFO
    default:
        return (struct mt_operation_info){code, 0, MT_CLASS_UNKNOWN, 0, 0, "unknown"};
    }
}

#endif
