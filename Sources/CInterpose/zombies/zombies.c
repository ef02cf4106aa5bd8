/* See zombies.h. */
#include "zombies/zombies.h"

#include "base/moment.h"
#include "base/os.h"
#include "base/registers.h"
#include "events/hook.h"
#include "events/interrupted_stack.h"
#include "loader/real.h"
#include "trace/meta_writer.h"
#include "zombies/quarantine.h"
#include "zombies/zombie_fill.h"
#include "zombies/zombie_search.h"
#include <string.h>

enum {
    LARGEST_SHARE = 16, /* of what may be kept back, for one block */
    STACK_WORDS = 64    /* of interrupted code, among which its variables are */
};

static struct {
    bool is_on, is_glibc, is_resting;
    uint32_t records;
    size_t largest;
    struct mt_real real; /* the allocator's functions, where mt_real has ours */
    struct mt_quarantine quarantine;
} g_zombies;

/* ---- Records ---- */

static void write_record(struct mt_zombie_record *record) {
    if (!mt_meta_may_write(&g_zombies.records, "further uses of freed blocks are not recorded"))
        return;
    record->time = mt_moment();
    record->thread = mt_tls.index;
    struct mt_piece piece = {record, sizeof *record};
    mt_meta_write(MT_RECORD_ZOMBIE, &piece, 1);
}

/* Records that a block was written to, where it was. */
static void judge(struct mt_kept_block block, enum mt_zombie_kind kind) {
    struct mt_zombie_damage damage = mt_zombie_compare(block.address, block.size);
    if (mt_likely(damage.length == 0))
        return;
    struct mt_zombie_record record = {
        .kind = kind, .block = block.address, .offset = damage.offset, .length = damage.length};
    write_record(&record);
}

/* ---- In place of the allocator's functions ---- */

/* What glibc keeps beside its blocks: the size in front, whose second bit says that the block is
 * a mapping of its own, and behind it the next block's, whose first bit says that this one is in
 * use. (malloc/malloc.c, "malloc_chunk details") */
static bool is_block_of_glibc(const void *block, size_t size) {
    const uint64_t *words = block;
    bool is_mapping = words[-1] & 2;
    return ((uintptr_t)block & 15) == 0 && (is_mapping || (words[size / 8] & 1));
}

/* The word behind a block, at which glibc looks whenever it is asked for the block's size. Whoever
 * has written over that size may have made it lead to where there is no memory. */
static bool has_word_behind(const void *block) {
    const uint64_t *words = block;
    bool is_mapping = words[-1] & 2;
    uintptr_t behind = (uintptr_t)block - 8 + (words[-1] & ~UINT64_C(7));
    bool is_near =
        (((uintptr_t)block - 8) & -(uintptr_t)MT_PAGE_SIZE) == (behind & -(uintptr_t)MT_PAGE_SIZE);
    return is_mapping || is_near || mt_os_is_readable(behind & ~(uintptr_t)7);
}

/* SIZE_MAX: it makes no sense, and is the allocator's to judge. */
static size_t size_of(void *block) {
    bool makes_sense = !g_zombies.is_glibc || has_word_behind(block);
    return makes_sense ? g_zombies.real.malloc_usable_size(block) : SIZE_MAX;
}

/* A free of what is no block is the allocator's to judge, as it always is. */
static bool may_keep(const void *block, size_t size) {
    return size >= 8 && size <= g_zombies.largest && (size & 7) == 0 &&
           ((uintptr_t)block & 7) == 0 && (uint64_t)(uintptr_t)block <= MT_ZOMBIE_ADDRESS &&
           (!g_zombies.is_glibc || is_block_of_glibc(block, size));
}

static void give_back(struct mt_kept_block block) {
    if (block.address == 0)
        return;
    judge(block, MT_ZOMBIE_WRITTEN);
    mt_zombie_fill(block.address, block.size, MT_ZOMBIE_NOBODY);
    g_zombies.real.free((void *)block.address);
}

static bool rests(void) {
    return __atomic_load_n(&g_zombies.is_resting, __ATOMIC_RELAXED);
}

static bool keep_back(void *block) {
    if (rests())
        return false;
    size_t size = size_of(block);
    if (!may_keep(block, size))
        return false;
    struct mt_kept_block kept = {(uintptr_t)block, size}, surplus;
    mt_zombie_fill(kept.address, size, mt_zombie_word(kept.address));
    if (!mt_quarantine_add(&g_zombies.quarantine, kept, &surplus))
        return false;
    do
        give_back(surplus);
    while (mt_quarantine_take_surplus(&g_zombies.quarantine, &surplus));
    return true;
}

static bool is_kept_back(const void *block) {
    return mt_quarantine_holds(&g_zombies.quarantine, (uintptr_t)block);
}

/* A second free of a block is in the trace; the allocator will hear of one. */
static void free_later(void *block) {
    if (block && !is_kept_back(block) && !keep_back(block))
        g_zombies.real.free(block);
}

/* The allocator would free the old block, or use it again. */
static void *move(void *block, size_t size) {
    size_t old_size = size_of(block);
    if ((old_size > g_zombies.largest || rests()) && !is_kept_back(block))
        return g_zombies.real.realloc(block, size);
    void *moved = g_zombies.real.malloc(size);
    if (!moved)
        return NULL;
    memcpy(moved, block, old_size < size ? old_size : size);
    free_later(block);
    return moved;
}

static void *reallocate(void *block, size_t size) {
    if (!block)
        return g_zombies.real.realloc(NULL, size);
    if (size)
        return move(block, size);
    return is_kept_back(block) ? NULL : g_zombies.real.realloc(block, 0);
}

bool mt_zombies_begin(uint64_t bytes) {
    static const struct mt_real ours = {.realloc = reallocate, .free = free_later};
    if (!mt_real.malloc_usable_size || !mt_quarantine_begin(&g_zombies.quarantine, bytes))
        return false;
    size_t largest = bytes / LARGEST_SHARE;
    g_zombies.largest = largest < MT_KEPT_SIZE_MAX ? largest : MT_KEPT_SIZE_MAX;
    g_zombies.is_glibc = mt_real_is_of_c_library((const void *)(uintptr_t)mt_real.free);
    g_zombies.real = mt_real;
    g_zombies.is_on = true;
    mt_real_replace(&ours);
    return true;
}

void mt_zombies_rest(void) {
    struct mt_kept_block block;
    if (!g_zombies.is_on)
        return;
    __atomic_store_n(&g_zombies.is_resting, true, __ATOMIC_RELAXED);
    mt_quarantine_shrink(&g_zombies.quarantine);
    while (mt_quarantine_take_surplus(&g_zombies.quarantine, &block))
        give_back(block);
}

/* ---- All that are kept back ---- */

/* Filled again, so that it is recorded once. Nobody can give the block back meanwhile. */
static void judge_kept(struct mt_kept_block block, void *context) {
    judge(block, *(const enum mt_zombie_kind *)context);
    mt_zombie_fill(block.address, block.size, mt_zombie_word(block.address));
}

void mt_zombies_check(enum mt_zombie_kind kind) {
    if (g_zombies.is_on)
        mt_quarantine_visit(&g_zombies.quarantine, judge_kept, &kind);
}

/* Words on top of a stack, as far as they can be read. */
static uint32_t count_stack_words(uint64_t sp) {
    if (sp % 8 != 0 || !mt_os_is_readable(sp))
        return 0;
    uint32_t in_page = (uint32_t)(MT_PAGE_SIZE - sp % MT_PAGE_SIZE) / 8;
    bool has_more = in_page < STACK_WORDS && mt_os_is_readable(sp + in_page * 8);
    return in_page >= STACK_WORDS || has_more ? STACK_WORDS : in_page;
}

static uintptr_t find_block(const struct mt_registers *registers) {
    struct mt_held_words held = {.registers = registers->values,
                                 .register_count = MT_GENERAL_REGISTERS,
                                 .stack = (const uint64_t *)(uintptr_t)registers->sp,
                                 .stack_count = count_stack_words(registers->sp)};
    return mt_zombie_find(&g_zombies.quarantine, &held);
}

void mt_zombies_note_signal(int signal, const void *context) {
    if (!g_zombies.is_on)
        return;
    struct mt_registers registers;
    mt_registers_read(&registers, context);
    uintptr_t block = find_block(&registers);
    if (!block)
        return;
    struct mt_zombie_record record = {.kind = MT_ZOMBIE_USED,
                                      .block = block,
                                      .signal = (uint32_t)signal,
                                      .stack = mt_interrupted_stack(&registers)};
    write_record(&record);
}
