/* See refcounts.h. */
#include "refcounts/refcounts.h"

#include "base/block_owner.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/text.h"
#include "events/hook.h"
#include "refcounts/refcount_types.h"
#include "refcounts/swift_runtime.h"
#include "trace/meta_writer.h"
#include "trace/trace_file.h"
#include "unwind/unwind_capture.h"

static struct {
    bool is_asked;
    /* What the runtime had there: a copy that is whole before the first place is written to. */
    struct {
        mt_swift_retain *retain, *try_retain;
        mt_swift_release *release;
        mt_swift_retain_n *retain_n;
        mt_swift_release_n *release_n;
    } original;
    char runtime[PATH_MAX]; /* the image that has been hooked; "": none yet */
} g_refcounts;

/* ---- Objects ---- */

/* Strings, bridged and tagged values come as negative or small numbers; bits of the top byte and
 * the lowest three may be somebody's. The same test and mask as the runtime's. */
#define POINTER_BITS UINT64_C(0x00fffffffffffff8)
#define SIDE_TABLE_BITS (UINT64_C(3) << 62)
#define IS_SLOW (UINT64_C(1) << 63)
#define IS_DEINITING (UINT64_C(1) << 32)
#define STRONG_SHIFT 33
#define END_OF_USER_MEMORY (UINT64_C(1) << 47)

static inline bool is_object(const void *object) {
    return (intptr_t)object > 0;
}

/* An object that is not counted: it lives for ever. */
static inline bool is_immortal(uint64_t counts) {
    return (uint32_t)counts == UINT32_MAX;
}

/* Strong references of an object (swift/shims/RefCount.h): what is kept is one less, until the last
 * one is gone. */
static uint64_t strong_count(uint64_t counts) {
    if ((counts & SIDE_TABLE_BITS) == SIDE_TABLE_BITS) {
        uint64_t table = counts << 3;
        /* In what is left of a freed object there may be any word. */
        if (table >= END_OF_USER_MEMORY || (table & 15))
            return 0;
        counts = __atomic_load_n((const uint64_t *)table + 2, __ATOMIC_RELAXED);
    }
    return ((counts & ~IS_SLOW) >> STRONG_SHIFT) + !(counts & IS_DEINITING);
}

/* Whether events of an object may be wanted: the path of most calls ends here. */
static inline bool may_be_wanted(const void *object) {
    if (!is_object(object))
        return false;
    const uint64_t *words = (const uint64_t *)((uintptr_t)object & POINTER_BITS);
    return mt_refcount_verdict(words[0]) != MT_VERDICT_NO && !is_immortal(words[1]) &&
           !mt_sampling_surely_ignores(words) && !mt_sampling_leaves_out(words);
}

/* ---- Recording ---- */

/* The thread's next event of a block comes after this one, and so does the next one of this block,
 * whoever frees it. */
static uint64_t stamp(uintptr_t object) {
    mt_tls.must_stamp = 1;
    if (mt_clock_orders_threads) {
        mt_block_owner_take(object, mt_tls.thread->owner);
        mt_clock_wait();
    }
    return mt_clock_now() >> MT_TICK_SHIFT;
}

static void write(const struct mt_frame *caller, uintptr_t object, uint8_t call, uint32_t amount,
                  uint64_t count) {
    struct mt_thread *thread = mt_tls.thread;
    struct mt_refcount_event event = {
        .object = object, .count = count, .amount = amount, .call = call};
    if (mt_likely(mt_unwind_depth != 0))
        event.stack = mt_unwind_capture(&thread->unwinder, caller);
    event.time = stamp(object);
    if (!mt_refcount_write(&thread->refcounts, &event, thread->index))
        mt_trace_file_count(MT_COUNT_REFCOUNTS_LOST, 1);
}

/* What is known before the real call, which may free the object. */
struct counted {
    uintptr_t object;
    uint64_t count;
};

static struct counted look(const void *object) {
    uintptr_t address = (uintptr_t)object & POINTER_BITS;
    return (struct counted){address, strong_count(((const uint64_t *)address)[1])};
}

static void record(const struct mt_frame *caller, struct counted counted, uint8_t call,
                   uint32_t amount) {
    enum mt_entry entry = mt_enter(caller->sp);
    if (mt_unlikely(entry != MT_ENTRY_RECORD)) {
        if (entry == MT_ENTRY_LANE)
            mt_trace_file_count(MT_COUNT_REFCOUNTS_LOST, 1);
        return;
    }
    enum mt_refcount_verdict verdict = mt_refcount_verdict(*(const uintptr_t *)counted.object);
    if (mt_unlikely(verdict == MT_VERDICT_UNKNOWN))
        verdict = mt_refcount_judge(counted.object);
    if (mt_unlikely(verdict == MT_VERDICT_NO_OBJECT))
        counted.count = MT_REFCOUNT_NO_OBJECT;
    if (mt_likely(verdict != MT_VERDICT_NO))
        write(caller, counted.object, call, amount, counted.count);
    mt_leave(entry);
}

/* ---- Hooks ----
 *
 * In two halves, as those of malloc: swift_retain and its kin jump here, so that the caller's frame
 * is that of who called them. The runtime's functions take any argument themselves. */

MT_RECORDING_HALF static void *record_retain(void *object) {
    struct mt_frame caller = MT_CALLER_FRAME();
    record(&caller, look(object), MT_REFCOUNT_RETAIN, 1);
    g_refcounts.original.retain(object);
    return object;
}

static void *hook_retain(void *object) {
    if (mt_likely(may_be_wanted(object)))
        MT_TAIL_CALL record_retain(object);
    g_refcounts.original.retain(object);
    return object;
}

MT_RECORDING_HALF static void record_release(void *object) {
    struct mt_frame caller = MT_CALLER_FRAME();
    record(&caller, look(object), MT_REFCOUNT_RELEASE, 1);
    MT_TAIL_CALL g_refcounts.original.release(object);
}

static void hook_release(void *object) {
    if (mt_likely(may_be_wanted(object)))
        MT_TAIL_CALL record_release(object);
    MT_TAIL_CALL g_refcounts.original.release(object);
}

MT_RECORDING_HALF static void *record_retain_n(void *object, uint32_t amount) {
    struct mt_frame caller = MT_CALLER_FRAME();
    record(&caller, look(object), MT_REFCOUNT_RETAIN_N, amount);
    MT_TAIL_CALL g_refcounts.original.retain_n(object, amount);
}

static void *hook_retain_n(void *object, uint32_t amount) {
    if (mt_likely(may_be_wanted(object)))
        MT_TAIL_CALL record_retain_n(object, amount);
    MT_TAIL_CALL g_refcounts.original.retain_n(object, amount);
}

MT_RECORDING_HALF static void record_release_n(void *object, uint32_t amount) {
    struct mt_frame caller = MT_CALLER_FRAME();
    record(&caller, look(object), MT_REFCOUNT_RELEASE_N, amount);
    MT_TAIL_CALL g_refcounts.original.release_n(object, amount);
}

static void hook_release_n(void *object, uint32_t amount) {
    if (mt_likely(may_be_wanted(object)))
        MT_TAIL_CALL record_release_n(object, amount);
    MT_TAIL_CALL g_refcounts.original.release_n(object, amount);
}

/* Whether it succeeds is known afterwards. */
MT_RECORDING_HALF static void *record_try_retain(void *object) {
    struct mt_frame caller = MT_CALLER_FRAME();
    struct counted counted = look(object);
    void *result = g_refcounts.original.try_retain(object);
    record(&caller, counted, result ? MT_REFCOUNT_TRY_RETAIN : MT_REFCOUNT_TRY_RETAIN_NOT,
           result != NULL);
    return result;
}

static void *hook_try_retain(void *object) {
    if (mt_likely(may_be_wanted(object)))
        MT_TAIL_CALL record_try_retain(object);
    MT_TAIL_CALL g_refcounts.original.try_retain(object);
}

/* ---- Installing ---- */

static void note(enum mt_refcounts_state state, const char *text) {
    struct mt_refcounts_record refcounts = {.time = mt_clock_event_time(),
                                            .state = state,
                                            .pattern_length =
                                                (uint32_t)mt_text_length(mt_config.refcounts),
                                            .text_length = (uint32_t)mt_text_length(text)};
    struct mt_piece pieces[] = {{&refcounts, sizeof refcounts},
                                {mt_config.refcounts, refcounts.pattern_length},
                                {text, refcounts.text_length}};
    mt_meta_write(MT_RECORD_REFCOUNTS, pieces, 3);
}

static void refuse(const char *path, const char *reason) {
    static char text[PATH_MAX + 128]; /* one caller at a time */
    struct mt_text message = mt_text_begin(text, sizeof text);
    mt_text_add(&message, path);
    mt_text_add(&message, ": ");
    mt_text_add(&message, reason);
    note(MT_REFCOUNTS_OFF, text);
    mt_diag_once("no reference counts of the Swift runtime in", text, 0, "; all else is recorded");
}

static void keep_originals(const struct mt_swift_runtime *places) {
    g_refcounts.original.retain = *places->retain;
    g_refcounts.original.release = *places->release;
    if (places->retain_n)
        g_refcounts.original.retain_n = *places->retain_n;
    if (places->release_n)
        g_refcounts.original.release_n = *places->release_n;
    if (places->try_retain)
        g_refcounts.original.try_retain = *places->try_retain;
}

/* Other threads may be in the runtime: each place is one store, and the flag comes last. */
static void install(const struct mt_swift_runtime *places) {
    __atomic_store_n(places->retain, hook_retain, __ATOMIC_RELEASE);
    __atomic_store_n(places->release, hook_release, __ATOMIC_RELEASE);
    if (places->retain_n)
        __atomic_store_n(places->retain_n, hook_retain_n, __ATOMIC_RELEASE);
    if (places->release_n)
        __atomic_store_n(places->release_n, hook_release_n, __ATOMIC_RELEASE);
    if (places->try_retain)
        __atomic_store_n(places->try_retain, hook_try_retain, __ATOMIC_RELEASE);
    if (places->adapter)
        __atomic_store_n(places->adapter, hook_retain, __ATOMIC_RELEASE);
    if (places->flag)
        __atomic_store_n(places->flag, 1, __ATOMIC_RELEASE);
}

bool mt_refcounts_look(const struct mt_loaded_image *image) {
    struct mt_swift_runtime places;
    const char *reason = "";
    if (!g_refcounts.is_asked)
        return true;
    switch (mt_swift_runtime_find(image, &places, &reason)) {
    case MT_RUNTIME_NONE:
        return true;
    case MT_RUNTIME_UNREADY:
        return false;
    case MT_RUNTIME_UNSAFE:
        refuse(image->path, reason);
        return true;
    case MT_RUNTIME_FOUND:
        break;
    }
    if (g_refcounts.runtime[0]) {
        refuse(image->path, "another Swift runtime in this process is recorded");
        return true;
    }
    struct mt_text path = mt_text_begin(g_refcounts.runtime, sizeof g_refcounts.runtime);
    mt_text_add(&path, image->path);
    note(MT_REFCOUNTS_ON, g_refcounts.runtime);
    keep_originals(&places);
    install(&places);
    return true;
}

void mt_refcounts_begin(void) {
    if (mt_config.refcounts[0] == 0 || mt_text_equal(mt_config.refcounts, "0"))
        return;
    g_refcounts.is_asked = true;
    mt_refcount_types_begin(mt_config.refcounts);
    note(MT_REFCOUNTS_ASKED, "");
}

void mt_refcounts_after_fork(void) {
    if (!g_refcounts.is_asked)
        return;
    note(MT_REFCOUNTS_ASKED, "");
    if (g_refcounts.runtime[0])
        note(MT_REFCOUNTS_ON, g_refcounts.runtime);
}
