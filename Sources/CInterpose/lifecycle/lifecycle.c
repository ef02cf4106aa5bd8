/* Starts and ends recordings. See lifecycle.h. */
#define _GNU_SOURCE
#include "lifecycle/lifecycle.h"

#include "base/clock.h"
#include "base/config.h"
#include "base/diag.h"
#include "base/file_room.h"
#include "base/lock.h"
#include "base/own_memory.h"
#include "base/text.h"
#include "bundled/beside_malloc.h"
#include "bundled/bundled_allocator.h"
#include "checks/heap_checks.h"
#include "events/open_chunks.h"
#include "events/pausing.h"
#include "events/sampling.h"
#include "events/thread_state.h"
#include "lifecycle/own_trace.h"
#include "loader/attached.h"
#include "loader/bypassing.h"
#include "loader/deep_bind.h"
#include "loader/image_map.h"
#include "loader/namespaces.h"
#include "loader/real.h"
#include "mappings/mappings.h"
#include "process/exec_environment.h"
#include "process/skipped_program.h"
#include "refcounts/refcounts.h"
#include "snapshot/signal_stacks.h"
#include "snapshot/snapshot.h"
#include "snapshot/snapshot_signals.h"
#include "stacks/stack_index.h"
#include "trace/meta_writer.h"
#include "trace/trace_descriptor.h"
#include "trace/trace_file.h"
#include "trace/trace_name.h"
#include "types/type_sampler.h"
#include "unwind/debug_frame.h"
#include "unwind/unwind_rules.h"
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

extern char **environ;

static struct {
    uint64_t load_ticks;
    uint64_t calls_before_start;
    char **options; /* instead of the environment: of an attached process */
    bool is_silent; /* the program is skipped: it has a trace, and no events */
    char python_malloc[16];
    struct mt_lock starting;
} g_life;

bool mt_lifecycle_has_trace(void) {
    if (mt_recording_is_forked())
        mt_lifecycle_start();
    return mt_recording_owns_trace();
}

bool mt_lifecycle_is_silent(void) {
    return g_life.is_silent;
}

void mt_lifecycle_attach(char **options) {
    g_life.options = options;
    mt_is_attached = true;
    mt_real_come_last();
    mt_lifecycle_start();
    g_life.options = NULL;
}

void mt_lifecycle_note_load(uint64_t ticks) {
    g_life.load_ticks = ticks;
}

void mt_lifecycle_note_early_call(void) {
    __atomic_fetch_add(&g_life.calls_before_start, 1, __ATOMIC_RELAXED);
}

void mt_lifecycle_before_confinement(void) {
    mt_lifecycle_start();
    if (!mt_trace_file_has_stopped() && mt_recording_owns_trace())
        mt_trace_file_keep_open();
}

void mt_lifecycle_end(enum mt_end_kind kind, int status) {
    if (!mt_lifecycle_has_trace())
        return;
    mt_heap_checks_at_end();
    mt_meta_title();
    mt_trace_file_end(kind, status);
}

void mt_lifecycle_seal(void) {
    if (mt_recording_owns_trace())
        mt_open_chunks_check();
}

static void begin_recording(void) {
    uint64_t blocks, bytes;
    mt_arena_usage(&blocks, &bytes);
    mt_trace_file_count(MT_COUNT_BOOTSTRAP_BLOCKS, blocks);
    mt_trace_file_count(MT_COUNT_BOOTSTRAP_BYTES, bytes);
    mt_trace_file_count(MT_COUNT_EVENTS_BEFORE_START, g_life.calls_before_start);
    g_life.calls_before_start = 0;
    mt_recording_begin(mt_trace_file.header->trace_id);
}

static void note_attached(void) {
    if (mt_is_attached)
        mt_meta_note(MT_NOTE_ATTACHED, mt_config.attached, "");
}

/* Whether the executable has an allocator of its own that calls the C library's past us, but no
 * free. */
static bool frees_come_from_past_us(void) {
    return !mt_real_overriding_image("free") && mt_bypassing_by_executable();
}

struct functions {
    const char *const *names;
    size_t count;
};

static const char *overriding_image(const char *function) {
    const char *image = mt_real_overriding_image(function);
    return image && !mt_bundled_reaches(function) ? image : NULL;
}

static bool is_any_overridden(struct functions functions) {
    for (size_t i = 0; i < functions.count; i++)
        if (overriding_image(functions.names[i]))
            return true;
    return false;
}

static void note_overridden(struct functions functions, bool are_freed) {
    for (size_t i = 0; i < functions.count; i++) {
        const char *image = overriding_image(functions.names[i]);
        if (image)
            mt_bypassing_note(functions.names[i], image, are_freed);
    }
}

/* Says which allocator functions the host will not call through us: the executable exports its
 * own, which come before any preloaded library's. One that has none but those beside (calloc)
 * mostly serves them by malloc, which is recorded. */
static void note_bypassed(void) {
    static const char *const names[] = {"malloc", "free", "realloc", "_Znwm", "_ZdlPv"};
    static const char *const names_beside[] = {"calloc",         "reallocarray",  "memalign",
                                               "posix_memalign", "aligned_alloc", "valloc",
                                               "pvalloc"};
    struct functions functions = {names, sizeof names / sizeof *names};
    struct functions beside = {names_beside, sizeof names_beside / sizeof *names_beside};
    if (is_any_overridden(functions))
        note_overridden(functions, frees_come_from_past_us());
    else if (is_any_overridden(beside) && mt_bypassing_by_executable())
        note_overridden(beside, true);
}

/* Swift Testing starts a process for each of its exit tests, which most often crashes, and tells it
 * so: Sources/Testing/ExitTests/ExitTest.swift. */
static void note_exit_test(char *const *environment) {
    if (mt_config_lookup(environment, "SWT_EXIT_TEST_ID") ||
        mt_config_lookup(environment, "SWT_EXPERIMENTAL_EXIT_TEST_ID"))
        mt_meta_note(MT_NOTE_MAY_CRASH, 0, "exit test of Swift Testing");
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
    if (g_life.options)
        return g_life.options;
    if (environ)
        return environ;
    if (!&__libc_stack_end || !__libc_stack_end)
        return NULL;
    uintptr_t *words = __libc_stack_end;
    return (char **)(words + 1 + words[0] + 1);
}

/* By this variable Python chooses the allocator of its objects, once, at its start. The values that
 * it knows fit. */
static void keep_python_malloc(void) {
    char **environment = mt_is_attached ? environ : find_environment();
    const char *value = mt_config_lookup(environment, "PYTHONMALLOC");
    if (value && mt_text_length(value) < sizeof g_life.python_malloc)
        memcpy(g_life.python_malloc, value, mt_text_length(value) + 1);
}

static void note_python_malloc(void) {
    if (g_life.python_malloc[0])
        mt_meta_note(MT_NOTE_PYTHON_MALLOC, 0, g_life.python_malloc);
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
    /* Who uses a freed block ends there; so does who writes past one, often. */
    if (mt_heap_checks_configure() && !mt_config_lookup(environment, "MEMTRACE_SNAPSHOT_ON_CRASH"))
        mt_config.snapshot_on_crash = 1;
    mt_pausing_init(mt_config.paused);
    mt_sampling_init(mt_config.sample, mt_config.sample_seed, mt_config.paused);
    if (mt_trace_name_root(&mt_config))
        return true;
    mt_diag_once("cannot record: no usable path for the trace", mt_config.output, 0,
                 MT_RUNS_UNRECORDED);
    return false;
}

/* returns  whether the calls of an attached process can be recorded; true for others */
static bool reach_calls(void) {
    const char *image = mt_is_attached ? mt_attached_begin() : NULL;
    if (image)
        mt_diag_once("cannot record: the allocator is part of", image, 0,
                     "; 'memtrace record --bundled-allocator' records it from its start on");
    return !image;
}

static bool look_at_image(const struct mt_loaded_image *image) {
    bool is_ready = mt_debug_frame_look(image) && mt_attached_look(image) &&
                    mt_bundled_look(image) && mt_beside_malloc_look(image) &&
                    mt_refcounts_look(image);
    if (is_ready)
        mt_deep_bind_meet(image);
    return is_ready;
}

static void forget_code(void) {
    mt_rules_forget();
    mt_stack_table_forget();
}

/* Where a sandbox answers in the kernel's place, a forked child takes itself for its parent, and
 * stacks have no end. */
static bool has_needed_calls(void) {
    const uintptr_t of_kernel = -(uintptr_t)MT_PAGE_SIZE;
    return mt_os_pid() > 0 && mt_os_is_readable((uintptr_t)&g_life) &&
           !mt_os_is_readable(of_kernel);
}

/* Says once why nothing is recorded. */
static enum mt_state refuse(const char *why) {
    mt_diag_once("cannot record:", why, 0, MT_RUNS_UNRECORDED);
    return MT_OFF;
}

static enum mt_state start_process(void) {
    mt_os_renew_idle_tables();
    /* First of all: who runs on unrecorded needs them as well. */
    if (!mt_real_resolve())
        return refuse("the C library's malloc was not found");
    if (!has_needed_calls())
        return refuse("a sandbox refuses getpid or rt_sigprocmask");
    if (getauxval(AT_PAGESZ) != MT_PAGE_SIZE) /* some kernels for aarch64 have larger ones */
        return refuse("the pages of this kernel are not of 4 KiB");
    mt_clock_init();
    if (!configure() || !reach_calls())
        return MT_OFF;
    if (!mt_recording_prepare())
        return refuse("Linux 4.14 or later is needed");
    struct mt_trace_origin origin = mt_own_trace_origin(g_life.load_ticks);
    long error = mt_own_trace_create(&origin);
    if (error < 0) {
        mt_diag_once("cannot record into", mt_config.output, error, MT_RUNS_UNRECORDED);
        return MT_OFF;
    }
    mt_thread_state_init();
    if (mt_config.types && mt_config.stacks)
        mt_type_sampler_begin();
    mt_image_map_watch((struct mt_image_watcher){look_at_image, forget_code});
    begin_recording();
    mt_meta_process();
    mt_own_trace_remove_replaced(&origin);
    if (mt_program_is_skipped(&mt_config)) {
        fall_silent();
        return MT_RECORDING;
    }
    mt_mappings_begin();
    mt_refcounts_begin();
    mt_heap_checks_begin();
    mt_heap_checks_note();
    mt_beside_malloc_begin();
    mt_image_map_scan();
    if (!mt_is_attached)
        note_bypassed();
    mt_namespaces_note();
    note_attached();
    note_exit_test(find_environment());
    keep_python_malloc();
    note_python_malloc();
    return MT_RECORDING;
}

static enum mt_state record_forked(const struct mt_trace_origin *origin) {
    int parent = mt_pausing_open_parent();
    if (mt_own_trace_create(origin) < 0) {
        mt_pausing_after_fork(parent);
        return MT_OFF;
    }
    begin_recording();
    mt_meta_process();
    mt_pausing_after_fork(parent);
    if (g_life.is_silent) {
        fall_silent();
        return MT_RECORDING;
    }
    mt_mappings_begin();
    mt_refcounts_after_fork();
    mt_heap_checks_note();
    mt_bundled_note();
    mt_bypassing_note_again();
    note_attached();
    note_python_malloc();
    mt_image_map_write_all();
    mt_signal_stacks_meet_own();
    mt_snapshot_signals_after_fork();
    return MT_RECORDING;
}

/* The wiped page told that we are a copy of the recorded process. Its mappings of the trace are
 * not here; its locks may be held by threads that are not here either. */
static enum mt_state start_forked(void) {
    struct mt_trace_origin origin = mt_own_trace_origin_forked(g_life.load_ticks);
    if (mt_config.follow)
        mt_file_room_make(mt_trace_descriptor_kept());
    mt_trace_file_abandon();
    mt_own_memory_after_fork();
    mt_bypassing_after_fork();
    mt_debug_frame_after_fork();
    mt_snapshot_after_fork();
    mt_image_map_survive_fork();
    mt_meta_reset();
    mt_stack_table_reset(mt_tls.inside);
    mt_thread_state_reset();
    mt_type_sampler_reset();
    mt_heap_checks_after_fork();
    enum mt_state state = mt_config.follow ? record_forked(&origin) : MT_OFF;
    mt_file_room_leave();
    return state;
}

/* With signals held back: a handler that came before the state has changed could have a thread of
 * its own start the process as well. */
static enum mt_state start(void) {
    enum mt_state state = mt_recording_state();
    bool is_forked = mt_recording_is_forked();
    if (state != MT_UNSTARTED && !is_forked)
        return state;
    if (is_forked)
        mt_lock_reset(&g_life.starting);
    if (!mt_lock_try(&g_life.starting))
        return MT_STARTING;
    uint32_t passes = mt_tls.passes;
    mt_tls.passes = 1;
    mt_recording_set_state(MT_STARTING);
    state = is_forked ? start_forked() : start_process();
    mt_recording_set_state(state);
    mt_tls.passes = passes;
    mt_lock_release(&g_life.starting);
    return state;
}

enum mt_state mt_lifecycle_start(void) {
    enum mt_state state = mt_recording_state();
    if (state == MT_UNSTARTED ? !find_environment() : !mt_recording_is_forked())
        return state;
    int saved = errno;
    uint64_t signals = mt_os_block_signals();
    state = start();
    mt_os_restore_signals(signals);
    errno = saved;
    return state;
}
