/* See snapshot_image.h. */
#include "snapshot/snapshot_image.h"

#include "base/os_threads.h"
#include "base/text.h"
#include "base/tls.h"
#include "loader/image_map.h"
#include "snapshot/inherited_pages.h"
#include "snapshot/snapshot_dispatch.h"
#include "snapshot/snapshot_gobject.h"
#include "snapshot/snapshot_keeper.h"
#include "snapshot/snapshot_kernel.h"
#include "snapshot/snapshot_pages.h"
#include "snapshot/snapshot_python.h"
#include "snapshot/snapshot_swift.h"
#include "snapshot/snapshot_writer.h"
#include "snapshot/vector_registers.h"
#include "trace/trace_file.h"
#include <errno.h>
#include <string.h>
#include <time.h>

/* One at a time, perhaps on a small stack. */
static struct mt_snapshot_writer g_writer;
static struct mt_page_walker g_walker;
static struct mt_keeper g_keeper;
static uint64_t g_looked;
static uint64_t g_registers[MT_GENERAL_REGISTERS + MT_VECTOR_WORDS]; /* of one thread */

/* ---- Records ---- */

static void write_begin(const struct mt_snapshot_image *image) {
    const struct mt_snapshot_request *request = image->request;
    struct mt_snapshot_begin begin = {.time = image->time,
                                      .reason = request->reason,
                                      .detail = request->detail,
                                      .thread = mt_tls.index,
                                      .tid = request->tid,
                                      .flags = image->keeps_contents ? MT_SNAPSHOT_CONTENTS : 0,
                                      .name_length = (uint32_t)request->name_length};
    mt_snapshot_record(&g_writer, MT_SNAPSHOT_BEGIN, &begin, sizeof begin, request->name,
                       begin.name_length);
}

static void write_signal_stack(struct mt_signal_stack stack, uint32_t thread, uint32_t tid) {
    struct mt_snapshot_signal_stack record = {
        .start = stack.start, .size = stack.size, .thread = thread, .tid = tid};
    if (stack.size)
        mt_snapshot_record(&g_writer, MT_SNAPSHOT_SIGNAL_STACK, &record, sizeof record, "", 0);
}

/* Gathers the registers of a thread, with those words of vectors that can be pointers: what was
 * copied through them may be the user's.
 *
 * general  MT_GENERAL_REGISTERS; NULL: not known
 * vectors  as in struct mt_registers; NULL: they hold nothing
 * returns  how many words g_registers has, without parts of vectors that hold nothing */
static uint32_t gather_registers(const uint64_t *general, const void *vectors) {
    uint64_t *words = g_registers + MT_GENERAL_REGISTERS;
    uint32_t count = MT_VECTOR_WORDS_LEAST;
    if (!general)
        return 0;
    memcpy(g_registers, general, MT_GENERAL_REGISTERS * sizeof *general);
    if (!vectors)
        return MT_GENERAL_REGISTERS;
    mt_vector_registers_read(vectors, words);
    for (uint32_t i = 0; i < MT_VECTOR_WORDS; i++) {
        if (!g_keeper.keeps_all && !mt_word_can_point(&g_keeper.filter, words[i]))
            words[i] = 0;
        while (words[i] && i >= count)
            count *= 2; /* the next part, see vector_registers.c */
    }
    return MT_GENERAL_REGISTERS + count;
}

/* With the registers that are gathered. */
static void write_thread(struct mt_snapshot_thread *thread, struct mt_signal_stack stack) {
    mt_snapshot_record(&g_writer, MT_SNAPSHOT_THREAD, thread, sizeof *thread, g_registers,
                       thread->register_count * sizeof *g_registers);
    write_signal_stack(stack, thread->thread, thread->tid);
}

/* Of a thread that is in a system call of the C library the vector registers hold nothing: a caller
 * keeps nothing in them, and the library has no use for them across a call. What was copied through
 * them last would hide leaks. Readers take the same from their absence for what lies below the
 * stack pointer. */
static const void *meaningful_vectors(const void *vectors, bool is_in_call, uint64_t pc,
                                      const struct mt_span *library) {
    return is_in_call && pc - library->start < library->size ? NULL : vectors;
}

static struct mt_span find_c_library(void) {
    uintptr_t start, end;
    bool is_found = mt_image_map_find_image("libc.so", &start, &end);
    return is_found ? (struct mt_span){start, end - start} : (struct mt_span){0, 0};
}

static void write_taker(const struct mt_snapshot_request *request, const struct mt_span *library) {
    const void *vectors =
        meaningful_vectors(request->vectors, request->is_in_call, request->caller.pc, library);
    struct mt_snapshot_thread taker = {.sp = request->caller.sp,
                                       .pc = request->caller.pc,
                                       .tls_base = mt_os_thread_pointer(),
                                       .thread = mt_tls.index,
                                       .tid = request->tid,
                                       .state = MT_SNAPSHOT_TAKER,
                                       .register_count =
                                           gather_registers(request->registers, vectors)};
    write_thread(&taker, request->signal_stack);
}

static void write_threads(const struct mt_park *park, const struct mt_span *library) {
    for (size_t i = 0; i < park->count; i++) {
        const struct mt_parked_thread *parked = &park->threads[i];
        const struct mt_registers *registers = &parked->registers;
        struct mt_snapshot_thread thread = {.tls_base = parked->tls_base,
                                            .thread = parked->index,
                                            .tid = parked->tid,
                                            .state = mt_park_state(parked)};
        if (!thread.state)
            continue;
        /* Of one that went on they are not those of this moment. */
        if (thread.state == MT_SNAPSHOT_PARKED) {
            thread.sp = registers->sp;
            thread.pc = registers->pc;
            thread.register_count = gather_registers(
                registers->values, meaningful_vectors(registers->vectors, registers->is_in_call,
                                                      registers->pc, library));
        }
        write_thread(&thread, registers->signal_stack);
    }
}

static void write_region(const struct mt_snapshot_region *region, const char *path) {
    struct mt_snapshot_region record = *region;
    mt_snapshot_record(&g_writer, MT_SNAPSHOT_REGION, &record, sizeof record, path,
                       record.path_length);
}

static void write_end(const struct mt_snapshot_image *image, uint64_t skipped) {
    /* The process that was copied says how long it stood still: soon, if it is still there. */
    for (int naps = 0; naps < 20 && !image->times->are_known; naps++)
        mt_os_futex_wait_for(&image->times->are_known, 0, 100000000);
    uint64_t duration_ns = mt_os_time_ns(CLOCK_MONOTONIC) - image->times->began_ns;
    /* Without a copy they stand still until now. */
    bool stands_still = !image->copied_from && image->park->count > 0;
    struct mt_snapshot_end end = {.pause_ns = stands_still ? duration_ns : image->times->pause_ns,
                                  .fork_ns = image->times->fork_ns,
                                  .duration_ns = duration_ns,
                                  .bytes_looked = g_looked,
                                  .words = g_writer.words,
                                  .bytes_written = g_writer.bytes,
                                  .bytes_skipped = skipped};
    mt_snapshot_record(&g_writer, MT_SNAPSHOT_END, &end, sizeof end, "", 0);
}

/* ---- Memory ---- */

static void visit_page(uint64_t page, const uint64_t *words, void *context) {
    uint64_t kept[MT_PAGE_BLOCKS];
    struct mt_keeper *keeper = context;
    g_looked += MT_PAGE_SIZE;
    if (mt_keeper_select(keeper, page, words, kept))
        mt_snapshot_words(&g_writer, page, words, kept);
}

/* Numbers would be taken for addresses in what is only reserved, of which no page was written to.
 */
static void find_protected(struct mt_region_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        struct mt_region *region = &list->regions[i];
        if (region->source == MT_PAGES_PROTECTED && mt_pages_any(&g_walker, region))
            region->is_target = true;
        else if (region->source == MT_PAGES_PROTECTED)
            region->source = MT_PAGES_NOT_KEPT;
    }
}

static bool skips_inherited(void) {
    return !g_keeper.keeps_all && mt_trace_file.header->flags & MT_HEADER_FORKED &&
           mt_inherited_pages_are_known(g_walker.pagemap);
}

static long keep_memory(const struct mt_snapshot_image *image, struct mt_region_list *list) {
    struct mt_snapshot_threads threads = {.park = image->park, .taker = image->request->tid};
    mt_snapshot_python(&g_writer, &g_walker, list);
    mt_snapshot_gobject(&g_writer, &g_walker, list);
    g_keeper.slab = mt_snapshot_swift(&g_writer, &g_walker, list);
    mt_snapshot_dispatch(&g_writer, &threads);
    g_walker.skips_inherited = skips_inherited();
    for (size_t i = 0; i < list->count && !g_writer.error; i++) {
        const struct mt_region *region = &list->regions[i];
        if (region->source != MT_PAGES_NOT_KEPT &&
            !mt_pages_visit(&g_walker, region, visit_page, &g_keeper))
            list->skipped_bytes += region->end - region->start;
    }
    mt_snapshot_writer_flush(&g_writer);
    return g_writer.error;
}

static long keep_threads_and_memory(const struct mt_snapshot_image *image,
                                    struct mt_region_list *list, struct mt_span *spans) {
    mt_pages_open(&g_walker);
    find_protected(list);
    mt_keeper_begin(&g_keeper, list, spans, image->keeps_contents);
    struct mt_span library = find_c_library();
    write_taker(image->request, &library);
    write_threads(image->park, &library);
    mt_snapshot_kernel(&g_writer, image->copied_from, g_keeper.keeps_all ? NULL : &g_keeper.filter);
    long error = keep_memory(image, list);
    mt_pages_close(&g_walker);
    return error;
}

long mt_snapshot_image_write(const struct mt_snapshot_image *image) {
    /* Mapped before the mappings are listed: they are the recorder's. */
    size_t spans_size = MT_REGIONS_MAX * sizeof(struct mt_span);
    struct mt_span *spans = mt_os_map_pages(spans_size);
    if (!spans)
        return -ENOMEM;
    if (mt_snapshot_writer_begin(&g_writer, image->request->number, image->time) < 0) {
        mt_os_unmap_pages(spans, spans_size);
        return -ENOMEM;
    }
    g_looked = 0;
    write_begin(image);
    struct mt_region_list list;
    long error = mt_region_list_make(&list, write_region);
    if (error == 0)
        error = keep_threads_and_memory(image, &list, spans);
    if (error == 0) {
        if (image->copied_from)
            list.skipped_bytes += mt_regions_not_copied(image->copied_from);
        write_end(image, list.skipped_bytes);
        mt_snapshot_writer_flush(&g_writer);
        error = g_writer.error;
    }
    mt_snapshot_writer_end(&g_writer);
    mt_region_list_free(&list);
    mt_os_unmap_pages(spans, spans_size);
    return error;
}
