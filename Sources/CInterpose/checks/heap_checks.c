/* See heap_checks.h. */
#include "checks/heap_checks.h"

#include "base/config.h"
#include "base/diag.h"
#include "base/memory_limits.h"
#include "base/number_ranges.h"
#include "guard/guard.h"
#include "redzones/redzones.h"
#include "shortage/shortage.h"
#include "trace/meta_writer.h"
#include "zombies/zombies.h"

#define ALL_ELSE "; all else is recorded"

static bool has_numbers(const char *option) {
    struct mt_number_ranges numbers;
    return mt_number_ranges_parse(option, &numbers) && numbers.count;
}

bool mt_heap_checks_configure(void) {
    if (mt_config.sample || mt_config.paused) {
        mt_config.zombies = 0;
        mt_config.redzones = 0;
        mt_config.guard[0] = 0;
    }
    return mt_config.zombies || mt_config.redzones || has_numbers(mt_config.guard);
}

/* The kernel kills who goes beyond the limit of its group: what is kept back leaves most of it to
 * the program. */
static void bound_zombies(void) {
    enum { SHARE = 4 };
    uint64_t most = mt_memory_limit_of_cgroup() / SHARE;
    if (mt_config.zombies > most)
        mt_config.zombies = most;
}

static void begin_zombies(void) {
    if (mt_config.zombies)
        bound_zombies();
    if (mt_config.zombies && !mt_zombies_begin(mt_config.zombies)) {
        mt_config.zombies = 0;
        mt_diag_once("cannot keep freed blocks back:", "the allocator does not tell their sizes", 0,
                     ALL_ELSE);
    }
}

static void begin_redzones(void) {
    if (mt_config.redzones && !mt_redzones_begin(mt_config.redzones)) {
        mt_config.redzones = 0;
        mt_diag_once("cannot put redzones behind blocks:", "no memory", 0, ALL_ELSE);
    }
}

static void begin_guard(void) {
    struct mt_guard_settings settings = {.every = mt_config.guard_every,
                                         .alignment = mt_config.guard_alignment,
                                         .is_front = mt_config.guard_front};
    mt_number_ranges_parse(mt_config.guard, &settings.sizes);
    if (settings.sizes.count && !mt_guard_begin(&settings)) {
        mt_config.guard[0] = 0;
        mt_diag_once("cannot guard blocks:", "no memory", 0, ALL_ELSE);
    }
}

static void begin_shortage(void) {
    struct mt_shortage_settings settings = {.limit = mt_config.limit};
    mt_number_ranges_parse(mt_config.fail_at, &settings.numbers);
    if ((settings.numbers.count || settings.limit) && !mt_shortage_begin(&settings)) {
        mt_config.fail_at[0] = 0;
        mt_config.limit = 0;
        mt_diag_once("cannot limit memory:", "the allocator does not tell the sizes of its blocks",
                     0, ALL_ELSE);
    }
}

/* Who comes last sees a block first: a guarded one needs nothing else, and one with a redzone is
 * looked at before it is kept back. What fails is asked of none. */
void mt_heap_checks_begin(void) {
    begin_zombies();
    begin_redzones();
    begin_guard();
    begin_shortage();
}

void mt_heap_checks_after_fork(void) {
    mt_redzones_after_fork();
    mt_guard_after_fork();
    mt_shortage_after_fork();
}

void mt_heap_checks_note(void) {
    if (mt_config.zombies)
        mt_meta_note(MT_NOTE_ZOMBIES, mt_config.zombies, "freed blocks are kept back");
    if (mt_config.redzones)
        mt_meta_note(MT_NOTE_REDZONES, mt_config.redzones, "blocks have redzones");
    if (has_numbers(mt_config.guard))
        mt_meta_note(MT_NOTE_GUARD, mt_config.guard_every, mt_config.guard);
    if (has_numbers(mt_config.fail_at))
        mt_meta_note(MT_NOTE_FAIL_AT, 0, mt_config.fail_at);
    if (mt_config.limit)
        mt_meta_note(MT_NOTE_LIMIT, mt_config.limit, "live bytes are limited");
}

void mt_heap_checks_heed_limit(void) {
    mt_guard_heed_limit();
}

void mt_heap_checks_rest(void) {
    mt_zombies_rest();
    mt_guard_rest();
}

static void look(enum mt_zombie_kind written, enum mt_overrun_kind overrun) {
    mt_zombies_check(written);
    mt_redzones_check(overrun);
    mt_guard_check(overrun);
}

void mt_heap_checks_at_mark(void) {
    look(MT_ZOMBIE_WRITTEN_AT_MARK, MT_OVERRUN_AT_MARK);
}

void mt_heap_checks_at_end(void) {
    look(MT_ZOMBIE_WRITTEN_AT_END, MT_OVERRUN_AT_END);
}

void mt_heap_checks_at_fault(int signal, uintptr_t address, const void *context) {
    mt_zombies_note_signal(signal, context);
    mt_guard_note_signal(signal, address, context);
}
