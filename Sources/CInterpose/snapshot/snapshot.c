/* Takes snapshots. See snapshot.h. */
#include "snapshot/snapshot.h"

#include "base/diag.h"
#include "base/file_room.h"
#include "base/lock.h"
#include "base/moment.h"
#include "base/os_threads.h"
#include "base/proc_numbers.h"
#include "base/registers.h"
#include "base/tls.h"
#include "events/fault_stack.h"
#include "events/pausing.h"
#include "loader/image_map.h"
#include "process/recording.h"
#include "snapshot/signal_stacks.h"
#include "snapshot/snapshot_image.h"
#include "snapshot/snapshot_signals.h"
#include "trace/meta_writer.h"
#include "trace/trace_descriptor.h"
#include "trace/trace_file.h"
#include "types/type_sampler.h"
#include <errno.h>
#include <time.h>

/* How long the end of the process waits for its image; and how long each sleep lasts at most. */
static const uint64_t longest_wait_ns = 60000000000, nap_ns = 100000000;

/* Between the process and the copy of it that writes the image. */
struct shared {
    struct mt_snapshot_times times;
    uint32_t is_done; /* a futex */
    long error;
};

static struct {
    struct mt_lock lock;
    struct shared *shared;
    long writer; /* the copy that has not been reaped; 0: none */
    bool avoids_copies;
} g_snapshot;

static uint64_t now(void) {
    return mt_os_time_ns(CLOCK_MONOTONIC);
}

static long writer(void) {
    return __atomic_load_n(&g_snapshot.writer, __ATOMIC_RELAXED);
}

static bool forget_writer(long pid) {
    return __atomic_compare_exchange_n(&g_snapshot.writer, &pid, 0, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

/* True when the copy has ended. */
static bool reap(void) {
    long pid = writer();
    if (pid && mt_os_reap(pid))
        forget_writer(pid);
    return writer() == 0;
}

/* Where the program was only told (WNOWAIT), the copy is still there to be told of. */
bool mt_snapshot_disown(long pid) {
    if (!forget_writer(pid))
        return false;
    mt_os_reap(pid);
    return true;
}

static long await_writer(void) {
    struct shared *shared = g_snapshot.shared;
    uint64_t deadline = now() + longest_wait_ns;
    while (!reap()) {
        if (now() >= deadline) {
            long pid = writer();
            if (pid > 0)
                mt_os_kill(pid);
            return -ETIMEDOUT;
        }
        if (__atomic_load_n(&shared->is_done, __ATOMIC_ACQUIRE))
            mt_os_yield();
        else
            mt_os_futex_wait_for(&shared->is_done, 0, nap_ns);
    }
    /* One that was killed, or ran out of memory, has not said how it went. */
    return shared->is_done ? shared->error : -EIO;
}

static void close_other(uint64_t fd, int directory, void *context) {
    (void)context;
    if (fd != (uint64_t)mt_trace_descriptor_kept() && fd != (uint64_t)directory)
        mt_os_close((int)fd);
}

/* The host's descriptors are open in the copy, too: the other end of a pipe or socket that the host
 * closes would not see its end, and a lock on a file would stay. */
static void close_others(void) {
    int own = mt_trace_descriptor_kept();
    bool are_closed = (own <= 0 || mt_os_close_range(0, (unsigned)own - 1) == 0) &&
                      mt_os_close_range((unsigned)own + 1, UINT32_MAX) == 0;
    if (!are_closed) /* before Linux 5.9, or in a container that knows it no better */
        mt_proc_numbers("/proc/self/fd", close_other, NULL);
}

/* The copy: writes and ends. No hook runs here, and nothing of the host. */
static _Noreturn void write_in_copy(const struct mt_snapshot_image *image, struct shared *shared,
                                    long host) {
    struct mt_snapshot_image copied = *image;
    copied.copied_from = host;
    shared->error = mt_trace_file_reopen_in_copy();
    close_others();
    if (shared->error == 0)
        shared->error = mt_snapshot_image_write(&copied);
    if (mt_trace_file.header)
        mt_trace_file.header->snapshots_done = image->request->number + 1;
    __atomic_store_n(&shared->is_done, 1, __ATOMIC_RELEASE);
    mt_os_futex_wake_shared(&shared->is_done);
    mt_os_exit_group(0);
}

static void release(struct mt_park *park) {
    struct mt_snapshot_times *times = &g_snapshot.shared->times;
    mt_park_release(park);
    times->pause_ns = now() - times->began_ns;
    __atomic_store_n(&times->are_known, 1, __ATOMIC_RELEASE);
    mt_os_futex_wake_shared(&times->are_known);
}

/* While all other threads stand still, as long as it takes: none may unmap what is read. */
static long write_in_place(const struct mt_snapshot_image *image) {
    g_snapshot.shared->times.are_known = 1;
    long error = mt_snapshot_image_write(image);
    mt_trace_file.header->snapshots_done = image->request->number + 1;
    return error;
}

static long write_by_copy(const struct mt_snapshot_image *image, struct mt_park *park) {
    struct shared *shared = g_snapshot.shared;
    shared->is_done = 0;
    shared->error = 0;
    uint64_t start = now();
    long host = mt_os_pid();
    long copy = mt_os_copy_process();
    if (copy == 0)
        write_in_copy(image, shared, host);
    shared->times.fork_ns = now() - start;
    /* No process may be made (ulimit -u), or there is no memory for one. Later means never at the
     * end: the threads wait for longer then. */
    bool is_last_chance = copy < 0 && image->request->is_end && mt_park_holds_all(park);
    long error = is_last_chance ? write_in_place(image) : copy;
    if (copy > 0)
        __atomic_store_n(&g_snapshot.writer, copy, __ATOMIC_RELAXED);
    release(park);
    if (copy < 0)
        return error;
    return image->request->is_end ? await_writer() : 0;
}

/* Where no copy can be made: while all threads are held, or not at all. */
static long write_held(const struct mt_snapshot_image *image, struct mt_park *park) {
    long error = mt_park_holds_all(park) ? write_in_place(image) : -EAGAIN;
    release(park);
    return error;
}

/* Whether nobody misses the other threads while the image is written: they would only have been
 * ended by now. A copy would lack the memory that is not copied (MADV_DONTFORK, as V8's heap is).
 */
static bool ends_with_all_held(const struct mt_snapshot_request *request,
                               const struct mt_park *park) {
    return request->is_end && request->is_final && mt_park_holds_all(park);
}

/* Whether what the last snapshot still writes is waited for. Whoever asks for one can ask again;
 * those of marks and of the end are all wanted. */
static bool waits_for_others(const struct mt_snapshot_request *request) {
    return request->is_end || request->reason == MT_SNAPSHOT_AT_MARK;
}

static long take_parked(struct mt_snapshot_request *request) {
    struct mt_park park;
    if (!g_snapshot.shared)
        g_snapshot.shared = mt_os_map_shared(MT_PAGE_SIZE);
    if (!g_snapshot.shared)
        return -ENOMEM;
    if (!reap()) {
        if (!waits_for_others(request))
            return -EBUSY;
        await_writer();
    }
    g_snapshot.shared->times = (struct mt_snapshot_times){.began_ns = now()};
    request->tid = (uint32_t)mt_os_tid();
    request->signal_stack = mt_os_signal_stack();
    long error = mt_park_all(&park, request->is_final);
    if (error < 0)
        return error;
    request->number = mt_trace_file.header->snapshots++;
    struct mt_snapshot_image image = {.request = request,
                                      .park = &park,
                                      .times = &g_snapshot.shared->times,
                                      .time = mt_moment(),
                                      .keeps_contents = mt_config.snapshot_contents};
    /* At the end of a process without other threads nothing can get in the way: no copy. */
    if (park.count == 0 && request->is_end)
        return write_in_place(&image);
    if (ends_with_all_held(request, &park) ||
        __atomic_load_n(&g_snapshot.avoids_copies, __ATOMIC_RELAXED) ||
        mt_os_child_begins_namespace())
        return write_held(&image, &park);
    return write_by_copy(&image, &park);
}

static long take(struct mt_snapshot_request *request) {
    if (!request->is_end)
        return take_parked(request);
    mt_file_room_make(mt_trace_descriptor_kept());
    long error = take_parked(request);
    mt_file_room_leave();
    return error;
}

void mt_snapshot_avoid_copies(void) {
    __atomic_store_n(&g_snapshot.avoids_copies, true, __ATOMIC_RELAXED);
}

/* What the calling thread holds back from now on. Once threads stand still for good, a handler that
 * waits for one of them would never return, as one does with which a garbage collector stops all
 * threads: the process is about to end, and would not. */
static uint64_t held_back_after(const struct mt_snapshot_request *request, uint64_t before) {
    bool is_stopped = request->is_final && mt_park_lasts();
    return is_stopped ? before | mt_snapshot_signals_of_threads() : before;
}

long mt_snapshot_take(struct mt_snapshot_request *request) {
    if (!mt_recording_owns_trace() || mt_trace_file_has_stopped())
        return -ENOSYS;
    int saved = errno;
    if (!request->is_interrupted)
        mt_image_map_refresh();
    mt_type_settle_all();
    uint64_t signals = mt_os_block_signals();
    long error = -EBUSY;
    if (mt_lock_try(&g_snapshot.lock)) {
        error = take(request);
        mt_lock_release(&g_snapshot.lock);
    }
    mt_os_restore_signals(held_back_after(request, signals));
    errno = saved;
    return error;
}

long mt_snapshot_take_amid(struct mt_snapshot_request *request, const void *context) {
    struct mt_registers registers;
    mt_registers_read(&registers, context);
    request->caller = (struct mt_frame){.pc = registers.pc, .sp = mt_fault_stack_top(registers.sp)};
    request->registers = registers.values;
    request->vectors = registers.vectors;
    request->is_in_call = registers.is_in_call;
    request->is_interrupted = true;
    return mt_snapshot_take(request);
}

/* Why there is no whole image at the end. */
static const char *reason_of(long error) {
    switch (error) {
    case -ENOENT:
        return "/proc is not mounted";
    case MT_ERROR_MAX_SIZE:
        return "the trace is as large as it may be (--max-size)";
    case MT_ERROR_KEEP_FREE:
        return "the disk had no more room than is left to others (--keep-free)";
    default:
        return mt_diag_reason(error);
    }
}

/* goes_on: the process may live on after this end */
static void take_at_end(enum mt_snapshot_reason reason, int32_t detail, struct mt_frame caller,
                        bool goes_on) {
    if (!mt_config.snapshot_at_exit || mt_recording_state() != MT_RECORDING ||
        mt_pausing_rests_always())
        return;
    struct mt_snapshot_request request = {.reason = reason,
                                          .detail = detail,
                                          .name = "",
                                          .caller = caller,
                                          /* Both are called by signal handlers, too. */
                                          .is_interrupted = reason == MT_SNAPSHOT_AT_UEXIT ||
                                                            reason == MT_SNAPSHOT_AT_ABORT,
                                          .is_end = true,
                                          .is_final = !goes_on};
    long error = mt_snapshot_take(&request);
    if (error < 0 && error != -ENOSYS && error != -EBUSY)
        mt_meta_note(MT_NOTE_NO_SNAPSHOT, (uint64_t)-error, reason_of(error));
}

void mt_snapshot_at_end(enum mt_snapshot_reason reason, int32_t detail, struct mt_frame caller) {
    /* A handler of SIGABRT may jump out of abort(), or wait for other threads. */
    bool goes_on = reason == MT_SNAPSHOT_AT_ABORT && mt_snapshot_signals_host_handles(SIGABRT);
    take_at_end(reason, detail, caller, goes_on);
}

void mt_snapshot_before_end(enum mt_snapshot_reason reason, int32_t detail,
                            struct mt_frame caller) {
    take_at_end(reason, detail, caller, true);
}

void mt_snapshot_meet_threads(void) {
    uint64_t signals = mt_os_block_signals();
    if (mt_lock_try(&g_snapshot.lock)) {
        mt_signal_stacks_meet_own();
        mt_park_ask_for_signal_stacks();
        mt_lock_release(&g_snapshot.lock);
    }
    mt_os_restore_signals(signals);
}

void mt_snapshot_after_fork(void) {
    mt_lock_reset(&g_snapshot.lock);
    mt_park_after_fork();
    g_snapshot.shared = NULL;
    g_snapshot.writer = 0;
}
