/* Starts and ends recordings. See lifecycle.h. */
#define _GNU_SOURCE
#include "lifecycle.h"
#include "canary.h"

#include "clock.h"
#include "diag.h"
#include "exit_frame.h"
#include "image_map.h"
#include "libunwind_backend.h"
#include "loader_gate.h"
#include "lock.h"
#include "meta_writer.h"
#include "own_memory.h"
#include "real.h"
#include "recorder.h"
#include "refcounts.h"
#include "sampling.h"
#include "skipped_program.h"
#include "snapshot.h"
#include "snapshot_signals.h"
#include "stack_bounds.h"
#include "stack_index.h"
#include "text.h"
#include "trace_file.h"
#include "trace_name.h"
#include "type_sampler.h"
#include "unwind_rules.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

extern char **environ;
struct mt_config mt_config = {.verbose = 1};

static struct {
    uint32_t state; /* enum mt_state */
    uint32_t pid;   /* of the recorded process; differs in forked and vforked children */
    uint64_t generations;
    uint64_t *page; /* holds the generation; wiped in forked children */
    uint64_t load_ticks;
    uint8_t trace_id[16]; /* kept here: the header is not mapped in a forked child */
    uint64_t calls_before_start;
    bool is_silent; /* the program is skipped: it has a trace, and no events */
    struct mt_lock starting;
} g_life;

enum mt_state mt_lifecycle_state(void) {
    return __atomic_load_n(&g_life.state, __ATOMIC_ACQUIRE);
}

bool mt_lifecycle_is_forked(void) {
    return g_life.page && *g_life.page == 0 && mt_lifecycle_state() == MT_RECORDING;
}

bool mt_lifecycle_owns_trace(void) {
    return mt_lifecycle_state() == MT_RECORDING && g_life.pid == (uint32_t)mt_os_pid();
}

bool mt_lifecycle_has_trace(void) {
    if (mt_lifecycle_is_forked())
        mt_lifecycle_start();
    return mt_lifecycle_owns_trace();
}

uint32_t mt_lifecycle_trace_id(uint8_t id[16]) {
    memcpy(id, g_life.trace_id, 16);
    return g_life.pid;
}

static void set_state(enum mt_state state) {
    __atomic_store_n(&g_life.state, state, __ATOMIC_RELEASE);
}

void mt_lifecycle_enter_sandbox(void) {
    if (!mt_lifecycle_owns_trace())
        return;
    mt_trace_file_stop(MT_STOP_SANDBOX, 0);
    /* Hooks find no generation and no recording: not a single system call is made any more. */
    mt_generation = &mt_no_generation;
    set_state(MT_OFF);
}

void mt_lifecycle_before_prctl(long option, unsigned long argument) {
    if (option == PR_SET_SECCOMP || (option == PR_SET_TSC && argument == PR_TSC_SIGSEGV))
        mt_lifecycle_enter_sandbox();
}

void mt_lifecycle_end(enum mt_end_kind kind, int status) {
    if (mt_lifecycle_has_trace())
        mt_trace_file_end(kind, status);
}

/* ---- The trace of this process ---- */

static void origin_session(struct mt_trace_origin *origin) {
    if (mt_text_parse_hex(mt_config.session, origin->session_id, 16))
        return;
    if (mt_os_random(origin->session_id, 16) != 16)
        memcpy(origin->session_id, &origin->load_ticks, sizeof origin->load_ticks);
    struct mt_text text = mt_text_begin(mt_config.session, sizeof mt_config.session);
    mt_text_add_hex(&text, origin->session_id, 16);
}

/* MEMTRACE_PARENT is "TRACE-ID:PID" and stays in the environment for ever: it speaks of our parent
 * only if that pid is ours (exec) or our parent's (fork and exec, spawn). */
static void origin_parent(struct mt_trace_origin *origin) {
    uint64_t pid;
    if (mt_text_length(mt_config.parent) > 33 && mt_config.parent[32] == ':' &&
        mt_text_parse_number(mt_config.parent + 33, &pid) &&
        (pid == (uint64_t)mt_os_pid() || pid == (uint64_t)mt_os_ppid()))
        mt_text_parse_hex(mt_config.parent, origin->parent_trace_id, 16);
}

static long create_trace(const struct mt_trace_origin *origin) {
    bool skip_root = origin->flags & MT_HEADER_FORKED;
    static char path[PATH_MAX]; /* not on the stack, which may have 16 KiB */
    long error = -EEXIST;
    for (unsigned attempt = 0; error == -EEXIST && attempt < 1000; attempt++) {
        if (!mt_trace_name_try(&mt_config, skip_root, attempt, path))
            return -ENAMETOOLONG;
        error = mt_trace_file_create(path, &mt_config, origin);
    }
    return error;
}

static bool open_generation_page(void) {
    if (!g_life.page)
        g_life.page = mt_os_map_pages(MT_PAGE_SIZE);
    return g_life.page && mt_os_wipe_on_fork(g_life.page, MT_PAGE_SIZE) == 0;
}

static void begin_recording(void) {
    uint64_t blocks, bytes;
    mt_arena_usage(&blocks, &bytes);
    mt_trace_file_count(MT_COUNT_BOOTSTRAP_BLOCKS, blocks);
    mt_trace_file_count(MT_COUNT_BOOTSTRAP_BYTES, bytes);
    mt_trace_file_count(MT_COUNT_EVENTS_BEFORE_START, g_life.calls_before_start);
    g_life.calls_before_start = 0;
    g_life.pid = (uint32_t)mt_os_pid();
    memcpy(g_life.trace_id, mt_trace_file.header->trace_id, 16);
    *g_life.page = ++g_life.generations;
    mt_generation = g_life.page;
    set_state(MT_RECORDING);
}

/* The trace that our own exec replaced: a forked child's few events before it. */
static void remove_replaced(const struct mt_trace_origin *origin) {
    struct mt_file_header header;
    const char *path = mt_config.replaces;
    if (!*path)
        return;
    long fd = mt_os_open(MT_AT_CWD, path, 0, 0);
    if (fd < 0)
        return;
    bool is_ours = mt_os_pread((int)fd, &header, sizeof header, 0) == sizeof header &&
                   memcmp(header.magic, MT_FILE_MAGIC, 8) == 0 &&
                   header.pid == (uint32_t)mt_os_pid() && (header.flags & MT_HEADER_FORKED) &&
                   memcmp(header.trace_id, origin->parent_trace_id, 16) == 0;
    mt_os_close((int)fd);
    if (is_ours && mt_os_unlink(path) == 0)
        mt_meta_note(MT_NOTE_TEXT, header.file_end,
                     "the trace of this process between fork and exec was removed");
}

/* Says which allocator functions the host will not call through us: the executable exports its
 * own, which come before any preloaded library's. */
static void note_bypassed(void) {
    static const char *const names[] = {"malloc", "free", "realloc", "_Znwm", "_ZdlPv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *image = mt_real_overriding_image(names[i]);
        if (!image)
            continue;
        static char text[PATH_MAX + 32];
        struct mt_text note = mt_text_begin(text, sizeof text);
        mt_text_add(&note, names[i]);
        mt_text_add(&note, ": ");
        mt_text_add(&note, image);
        mt_meta_note(MT_NOTE_BYPASSED, 0, text);
    }
}

/* The trace of a skipped program says who it was, and later how it ended; a stopped one gets no
 * heap snapshot. The hooks pass all calls on, but for those of exec, which go on taking the
 * recorder and its options along. */
static void fall_silent(void) {
    g_life.is_silent = true;
    mt_trace_file_stop(MT_STOP_REQUESTED, 0);
}

/* ---- Start ---- */

/* Where the kernel put argc, then argv, then the environment. ld.so exports it. */
extern void *__libc_stack_end __attribute__((weak));

/* environ is not set yet while the executable's .preinit_array runs. */
static char **find_environment(void) {
    if (environ)
        return environ;
    if (!&__libc_stack_end || !__libc_stack_end)
        return NULL;
    uintptr_t *words = __libc_stack_end;
    return (char **)(words + 1 + words[0] + 1);
}

static bool configure(void) {
    char **environment = find_environment();
    const char *bad = mt_config_read(&mt_config, environment);
    if (bad)
        mt_diag_once("value out of range:", bad, 0, "; its default is used");
    mt_unwind_depth = mt_config.stacks ? (uint32_t)mt_config.depth : 0;
    mt_unwind_only_libunwind = mt_text_equal(mt_config.unwinder, "libunwind");
    mt_unwind_compares = mt_text_equal(mt_config.unwinder, "compare");
    if (mt_unwind_compares) /* IDs are compared, too: no path may get a second one */
        mt_stack_index_set_limit(UINT64_MAX);
    /* What a snapshot shows rests on all blocks, and it costs more than all the samples. */
    if (mt_config.sample && !mt_config_lookup(environment, "MEMTRACE_SNAPSHOT_AT_EXIT"))
        mt_config.snapshot_at_exit = 0;
    mt_sampling_init(mt_config.sample, mt_config.sample_seed);
    if (mt_trace_name_root(&mt_config))
        return true;
    mt_diag_once("cannot record: no usable path for the trace", mt_config.output, 0,
                 MT_RUNS_UNRECORDED);
    return false;
}

static enum mt_state start_process(void) {
    struct mt_trace_origin origin = {.load_ticks = g_life.load_ticks};
    if (!mt_real_resolve()) {
        mt_diag_once("cannot record:", "the C library's malloc was not found", 0,
                     MT_RUNS_UNRECORDED);
        return MT_OFF;
    }
    mt_clock_init();
    if (!configure())
        return MT_OFF;
    if (!open_generation_page()) {
        mt_diag_once("cannot record:", "Linux 4.14 or later is needed", 0, MT_RUNS_UNRECORDED);
        return MT_OFF;
    }
    origin_session(&origin);
    origin_parent(&origin);
    long error = create_trace(&origin);
    if (error < 0) {
        mt_diag_once("cannot record into", mt_config.output, error, MT_RUNS_UNRECORDED);
        return MT_OFF;
    }
    mt_thread_state_init();
    if (mt_config.types && mt_config.stacks)
        mt_type_sampler_begin();
    begin_recording();
    mt_meta_process();
    remove_replaced(&origin);
    if (mt_program_is_skipped(&mt_config)) {
        fall_silent();
        return MT_RECORDING;
    }
    mt_refcounts_begin();
    mt_image_map_scan();
    note_bypassed();
    return MT_RECORDING;
}

/* The wiped page told that we are a copy of the recorded process. Its mappings of the trace are
 * not here; its locks may be held by threads that are not here either. */
static enum mt_state start_forked(void) {
    struct mt_trace_origin origin = {.flags = MT_HEADER_FORKED, .load_ticks = g_life.load_ticks};
    memcpy(origin.parent_trace_id, g_life.trace_id, 16);
    mt_text_parse_hex(mt_config.session, origin.session_id, 16);
    mt_trace_file_abandon();
    mt_own_memory_after_fork();
    mt_snapshot_after_fork();
    mt_meta_reset();
    mt_stack_table_reset(mt_tls.inside);
    mt_thread_state_reset();
    mt_type_sampler_reset();
    if (!mt_config.follow)
        return MT_OFF;
    if (create_trace(&origin) < 0)
        return MT_OFF;
    begin_recording();
    mt_meta_process();
    if (g_life.is_silent) {
        fall_silent();
        return MT_RECORDING;
    }
    mt_refcounts_after_fork();
    mt_image_map_reset_for_fork();
    mt_snapshot_signals_after_fork();
    return MT_RECORDING;
}

enum mt_state mt_lifecycle_start(void) {
    bool is_forked = mt_lifecycle_is_forked();
    enum mt_state state = mt_lifecycle_state();
    if (state != MT_UNSTARTED && !is_forked)
        return state;
    if (is_forked)
        mt_lock_reset(&g_life.starting);
    else if (!find_environment())
        return MT_UNSTARTED;
    if (!mt_lock_try(&g_life.starting))
        return MT_STARTING;
    int saved = errno;
    uint64_t signals = mt_os_block_signals();
    uint32_t passes = mt_tls.passes;
    mt_tls.passes = 1;
    set_state(MT_STARTING);
    state = is_forked ? start_forked() : start_process();
    set_state(state);
    mt_tls.passes = passes;
    mt_lock_exit(&g_life.starting, signals);
    errno = saved;
    return state;
}

/* ---- mt_enter, the cold half ---- */

/* A hook of this thread never returned: a longjmp out of a signal handler went past it. */
static bool was_abandoned(uintptr_t sp) {
    struct mt_thread *thread = mt_tls.thread;
    return thread ? mt_stack_bounds_has_left(&thread->unwinder, mt_tls.entered, sp)
                  : sp >= mt_tls.entered.sp && !mt_os_on_signal_stack();
}

/* Ends the hook that never returned. No handler may interrupt this: it would do the same. */
static void leave_abandoned(void) {
    uint64_t signals = mt_os_block_signals();
    if (mt_tls.thread)
        mt_thread_repair(mt_tls.thread);
    mt_tls.inside = 0;
    mt_os_restore_signals(signals);
}

enum mt_entry mt_enter_slow(uintptr_t sp) {
    if (mt_tls.passes)
        return MT_ENTRY_PASS;
    enum mt_state state = mt_lifecycle_state();
    if (state == MT_UNSTARTED || mt_lifecycle_is_forked()) {
        state = mt_lifecycle_start();
        mt_tls.inside = 0;
    }
    if (state != MT_RECORDING) {
        if (state != MT_OFF)
            __atomic_fetch_add(&g_life.calls_before_start, 1, __ATOMIC_RELAXED);
        return MT_ENTRY_PASS;
    }
    if (g_life.is_silent)
        return MT_ENTRY_PASS;
    if (mt_tls.is_own)
        return MT_ENTRY_LANE;
    if (mt_tls.inside) {
        if (!was_abandoned(sp))
            return MT_ENTRY_LANE;
        leave_abandoned();
    }
    if (mt_tls.is_late)
        return MT_ENTRY_LANE;
    if (mt_thread_is_current())
        return MT_ENTRY_RECORD;
    uint64_t signals = mt_os_block_signals();
    mt_tls.inside = 1;
    bool has_begun = mt_thread_begin();
    mt_tls.inside = 0;
    mt_os_restore_signals(signals);
    if (has_begun)
        return MT_ENTRY_RECORD;
    mt_trace_file_count(MT_COUNT_THREADS_LOST, 1);
    return MT_ENTRY_PASS;
}

static enum mt_entry go_inside(enum mt_entry entry, uintptr_t sp) {
    if (entry == MT_ENTRY_RECORD) {
        mt_tls.entered = mt_entered_at(sp);
        mt_tls.inside = 1;
    }
    return entry;
}

enum mt_entry mt_enter_nested(uintptr_t sp) {
    return go_inside(mt_enter_slow(sp), sp);
}

enum mt_entry mt_enter_unready(uintptr_t sp) {
    mt_tls.inside = 0;
    return mt_enter_nested(sp);
}

/* ---- Beginning and end of the process ---- */

#ifdef MT_EXPORT_HOOKS
static void at_exit(int status, void *context) {
    (void)context;
    mt_lifecycle_end(MT_END_EXIT, status);
    mt_snapshot_at_end(MT_SNAPSHOT_AT_EXIT, status, mt_exit_frame(MT_CALLER_FRAME()));
}

/* The hook of quick_exit has noted the status; here the host's handlers have run, too. */
static void at_quick_exit_last(void) {
    if (mt_lifecycle_owns_trace())
        mt_snapshot_at_end(MT_SNAPSHOT_AT_QUICK, mt_trace_file.header->end_status,
                           MT_CALLER_FRAME());
}

/* A fork from a signal handler in the middle of a hook: the hook will go on in the child when the
 * handler returns, and must find memory where windows of the parent's trace were, and no window of
 * the child's before its recording has started. */
static void after_fork_in_child(void) {
    mt_loader_gate_after_fork_in_child();
    if (!(mt_tls.inside || mt_tls.is_late) || !mt_lifecycle_is_forked())
        return;
    mt_os_fill_hole(mt_trace_file.header, MT_FILE_HEADER_SIZE);
    mt_trace_file_stop(MT_STOP_NONE, 0);
    mt_thread_state_survive_fork();
    mt_stack_table_survive_fork();
    mt_meta_reset();
}

/* on_exit handlers run in reverse order: registered first, ours is the last, after the host's own
 * and after the destructors of its libraries. */
__attribute__((constructor(101))) static void construct(void) {
    g_life.load_ticks = mt_clock_after();
    if (mt_lifecycle_start() != MT_RECORDING)
        return;
    mt_trace_file.header->load_ticks = g_life.load_ticks;
    on_exit(at_exit, NULL);
    at_quick_exit(at_quick_exit_last);
    mt_snapshot_signals_begin();
    mt_tls.inside = mt_tls.is_own = 1;
    pthread_atfork(mt_loader_gate_before_fork, mt_loader_gate_after_fork_in_parent,
                   after_fork_in_child);
    mt_libunwind_load();
    mt_tls.inside = mt_tls.is_own = 0;
    if (mt_config.canary)
        mt_canary_plant();
}
#endif
