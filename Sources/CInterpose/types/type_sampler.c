/* Looks at blocks. See type_sampler.h. */
#include "types/type_sampler.h"

#include "types/type_registry.h"

enum {
    SETTLING = 4,       /* allocations after which a block is looked at */
    SETTLING_LATE = 48, /* the same, for the second block of a stack */
    PATIENCE = 32,      /* more allocations, for others to be looked at with it */
    REVISIT = 512,      /* allocations between looks at stacks that are known */
    SMALLEST_BLOCK = 8,
    PAGES_OF_ITS_OWN = 64 << 10, /* so large a block may lie in pages that the host has protected */
    UNDECIDED_LOOKS = 64,        /* of these, one counts: ask_for_type */
    ENOUGH_IN_VAIN = 4096, /* looks without any type: then only one stack in 64 is looked at */
    LONGEST_WAIT = 10000
};

static uint8_t g_enough = MT_TYPE_LOOKS * 0x55;
uintptr_t mt_type_pending[MT_TYPE_PENDING];
uint8_t *mt_type_looks = &g_enough;
uint32_t mt_type_looks_mask;

/* What goes with a place of mt_type_pending. Written before the address is stored there. */
static struct pending {
    uint64_t first_word; /* at the allocation, left by the block before it */
    uint64_t size;
    uint32_t stack;
    uint32_t serial; /* 0: a slab */
} g_pending[MT_TYPE_PENDING];

static struct {
    bool is_on;
    uint8_t *looks;
    uint32_t in_vain;
    uint32_t types;
    uint32_t last_serial;
} g_sampler;

bool mt_type_sampler_begin(void) {
    g_sampler.looks = mt_os_map_pages(MT_TYPE_STACKS_MASK + 1);
    if (!g_sampler.looks)
        return false;
    g_sampler.looks[0] = MT_TYPE_LOOKS; /* no stack */
    mt_type_looks = g_sampler.looks;
    mt_type_looks_mask = MT_TYPE_STACKS_MASK;
    g_sampler.is_on = true;
    return true;
}

void mt_type_sampler_reset(void) {
    if (!g_sampler.is_on)
        return;
    for (uint32_t i = 0; i < MT_TYPE_PENDING; i++)
        if (mt_type_pending[i] & 1 || g_pending[i].serial)
            mt_type_pending[i] = 0;
    /* The old bytes stay: a hook that a handler with a fork in it has interrupted may be about to
     * read one. */
    g_sampler.is_on = false;
    mt_type_looks = &g_enough;
    mt_type_looks_mask = 0;
    mt_type_registry_reset();
    mt_type_sampler_begin();
}

static bool set(uintptr_t *place, uintptr_t expected, uintptr_t value) {
    return __atomic_compare_exchange_n(place, &expected, value, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/* The place of a block; -1 when it is not there. */
static int find(uintptr_t block) {
    uint32_t first = mt_type_place(block);
    for (uint32_t i = 0; i < 2; i++)
        if ((__atomic_load_n(&mt_type_pending[first ^ i], __ATOMIC_ACQUIRE) | 1) == (block | 1))
            return (int)(first ^ i);
    return -1;
}

/* ---- Choosing ---- */

/* Address 1: taken, by nobody's block. */
static int take_place(uintptr_t block) {
    uint32_t first = mt_type_place(block);
    for (uint32_t i = 0; i < 2; i++)
        if (set(&mt_type_pending[first ^ i], 0, 1))
            return (int)(first ^ i);
    return -1;
}

/* returns  the block's serial number; 0 when there is no room */
static uint32_t put(const void *block, size_t size, uint32_t stack) {
    int place = take_place((uintptr_t)block);
    if (place < 0)
        return 0;
    uint32_t serial = __atomic_add_fetch(&g_sampler.last_serial, 2, __ATOMIC_RELAXED) | 1;
    g_pending[place] = (struct pending){*(const uint64_t *)block, size, stack, serial};
    __atomic_store_n(&mt_type_pending[place], (uintptr_t)block, __ATOMIC_RELEASE);
    return serial;
}

static void count_look(uint32_t stack) {
    /* Another thread's count may get lost, but never run over into the neighbour's. */
    uint8_t *looks = mt_type_looks_byte(stack), value = *looks;
    uint32_t shift = (stack & 3) * 2;
    if ((value >> shift & 3u) < MT_TYPE_LOOKS)
        *looks = (uint8_t)(value + (1u << shift));
}

/* In a program that shows no types, most stacks are left alone. */
static bool is_in_vain(uint32_t stack) {
    return g_sampler.in_vain > ENOUGH_IN_VAIN && g_sampler.types == 0 && (stack & 63) != 0;
}

/* Holding signals back costs more than looking: blocks are looked at some at a time, if there is
 * room for those that come meanwhile. */
static void wake_for(struct mt_type_queue *queue, uint32_t due) {
    uint32_t last = queue->count < MT_TYPE_QUEUE / 2 ? due + PATIENCE : due;
    if ((int32_t)(last - queue->due) < 0)
        queue->due = last;
}

static void choose(struct mt_type_queue *queue, const void *block, size_t size, uint32_t stack) {
    uint32_t looks = mt_type_looks_at(stack);
    bool is_revisit = (int32_t)(queue->clock - queue->revisit) >= 0;
    if (stack == 0 || (looks >= MT_TYPE_LOOKS && !is_revisit))
        return;
    if (is_revisit)
        queue->revisit = queue->clock + REVISIT;
    if (size < SMALLEST_BLOCK || (!is_revisit && is_in_vain(stack))) {
        count_look(stack);
        return;
    }
    uint32_t serial = queue->count < MT_TYPE_QUEUE ? put(block, size, stack) : 0;
    if (!serial)
        return;
    bool has_room = queue->count < MT_TYPE_QUEUE / 2; /* stacks seen once have but one chance */
    uint32_t delay = looks == 1 && has_room ? SETTLING_LATE : SETTLING;
    struct mt_type_chosen chosen = {(uintptr_t)block, serial, queue->clock + delay};
    queue->chosen[queue->count++] = chosen;
    wake_for(queue, chosen.due);
}

/* A slab stays in the table until it is freed. */
static void choose_slab(const void *block) {
    int place = take_place((uintptr_t)block);
    if (place < 0)
        return;
    bool is_added = mt_type_registry_add_slab((uintptr_t)block);
    g_pending[place] = (struct pending){.size = MT_TYPE_SLAB_SIZE};
    __atomic_store_n(&mt_type_pending[place], is_added ? (uintptr_t)block : 0, __ATOMIC_RELEASE);
}

/* ---- Looking ---- */

static struct mt_type_block read_block(uintptr_t block, uint64_t size) {
    const uint64_t *words = (const uint64_t *)block;
    return (struct mt_type_block){words[0], size >= 3 * sizeof *words ? words[2] : 0, size};
}

/* A word that was there before the block was given out says nothing about it. One that looks like
 * a type's may be that of an object like this one, which was there before; so it is not even in
 * vain, but for one time in so many: memory that nobody writes to is not looked at for ever. */
static enum mt_type_answer ask_for_type(const struct pending *pending,
                                        const struct mt_type_sighting *sighting) {
    if (!mt_type_registry_may_know(sighting->block.word))
        return MT_TYPE_NONE;
    if (sighting->block.word == pending->first_word)
        return (pending->serial >> 1) % UNDECIDED_LOOKS ? MT_TYPE_BUSY : MT_TYPE_NONE;
    uint64_t signals = mt_os_block_signals();
    enum mt_type_answer answer = mt_type_registry_note(sighting);
    mt_os_restore_signals(signals);
    return answer;
}

static void look(const struct pending *pending, const struct mt_type_sighting *sighting) {
    enum mt_type_answer answer = ask_for_type(pending, sighting);
    if (answer == MT_TYPE_BUSY)
        return; /* another block's turn */
    uint32_t *counter = answer == MT_TYPE_KNOWN ? &g_sampler.types : &g_sampler.in_vain;
    if (*counter < UINT32_MAX / 2)
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    count_look(pending->stack);
}

/* Claims a block that its thread chose a while ago; -1 if it has been freed meanwhile. */
static int claim_chosen(struct mt_type_chosen chosen) {
    int place = find(chosen.block);
    if (place < 0 || !set(&mt_type_pending[place], chosen.block, chosen.block | 1))
        return -1;
    if (g_pending[place].serial == chosen.serial)
        return place;
    __atomic_store_n(&mt_type_pending[place], chosen.block, __ATOMIC_RELEASE);
    return -1;
}

/* A host that frees past our hooks might have unmapped the block. *page: what was found readable
 * last, while signals were held back as they still are; it is asked for once. */
static bool is_still_mapped(uintptr_t block, uintptr_t *page) {
    uintptr_t own = block & ~(uintptr_t)(MT_PAGE_SIZE - 1);
    if (own == *page)
        return true;
    bool is_readable = mt_os_is_readable(own);
    if (is_readable)
        *page = own;
    return is_readable;
}

/* Looks at a block that has been claimed, and gives its place back. */
static void settle_claimed(int place, uintptr_t block, uintptr_t *page) {
    struct pending pending = g_pending[place];
    struct mt_type_sighting sighting = {.stack = pending.stack, .evidence = MT_TYPE_SETTLED};
    bool is_readable = is_still_mapped(block, page);
    if (is_readable)
        sighting.block = read_block(block, pending.size);
    __atomic_store_n(&mt_type_pending[place], 0, __ATOMIC_RELEASE);
    if (is_readable)
        look(&pending, &sighting);
}

static void settle(struct mt_type_chosen chosen, uintptr_t *page) {
    int place = claim_chosen(chosen);
    if (place >= 0)
        settle_claimed(place, chosen.block, page);
}

void mt_type_settle_all(void) {
    if (!g_sampler.is_on)
        return;
    uintptr_t page = 0;
    uint64_t signals = mt_os_block_signals();
    for (int place = 0; place < MT_TYPE_PENDING; place++) {
        uintptr_t block = __atomic_load_n(&mt_type_pending[place], __ATOMIC_ACQUIRE);
        if ((block & 1) || block == 0 || !set(&mt_type_pending[place], block, block | 1))
            continue;
        if (g_pending[place].serial != 0)
            settle_claimed(place, block, &page);
        else /* a slab: it stays */
            __atomic_store_n(&mt_type_pending[place], block, __ATOMIC_RELEASE);
    }
    mt_os_restore_signals(signals);
    mt_type_registry_survey();
}

static void settle_due(struct mt_type_queue *queue) {
    uint32_t kept = 0;
    uintptr_t page = 0;
    for (uint32_t i = 0; i < queue->count; i++) {
        struct mt_type_chosen chosen = queue->chosen[i];
        if ((int32_t)(queue->clock - chosen.due) >= 0)
            settle(chosen, &page);
        else
            queue->chosen[kept++] = chosen;
    }
    queue->count = kept;
    queue->due = queue->revisit;
    for (uint32_t i = 0; i < kept; i++)
        wake_for(queue, queue->chosen[i].due);
}

MT_COLD void mt_type_choose(struct mt_type_queue *queue, const void *block, size_t size,
                            uint32_t stack) {
    if (!g_sampler.is_on) {
        queue->due = queue->clock + INT32_MAX;
        return;
    }
    /* A handler that jumps away from here takes a place with it, no more. */
    if (size == MT_TYPE_SLAB_SIZE)
        choose_slab(block);
    else
        choose(queue, block, size, stack);
    if ((int32_t)(queue->clock - queue->due) < 0)
        return;
    /* Whoever frees a block that is being read waits for the reader. */
    uint64_t signals = mt_os_block_signals();
    settle_due(queue);
    mt_os_restore_signals(signals);
}

/* ---- Freeing ---- */

/* Gives the block's place back. Waits while another thread reads the block. */
static bool give_back(int place, uintptr_t block) {
    for (uint32_t i = 0; i < LONGEST_WAIT; i++) {
        if (set(&mt_type_pending[place], block, 0))
            return true;
        if ((__atomic_load_n(&mt_type_pending[place], __ATOMIC_ACQUIRE) | 1) != (block | 1))
            return false;
        mt_os_yield();
    }
    return false;
}

/* Whether the beginning of a block that is about to be freed can be read. The guard of a stack, for
 * example, need not be given back to its allocator as it was. */
static bool is_still_readable(uintptr_t block, uint64_t size) {
    uintptr_t page = 0;
    return size < PAGES_OF_ITS_OWN || is_still_mapped(block, &page);
}

MT_COLD void mt_type_release(const void *address, uint32_t stack) {
    uintptr_t block = (uintptr_t)address;
    int place = find(block);
    if (place < 0)
        return;
    struct pending pending = g_pending[place];
    if (!give_back(place, block))
        return;
    if (pending.serial == 0) {
        mt_type_registry_remove_slab(block);
        return;
    }
    if (!is_still_readable(block, pending.size))
        return;
    struct mt_type_sighting sighting = {.block = read_block(block, pending.size),
                                        .stack = pending.stack,
                                        .evidence = MT_TYPE_FREED,
                                        .free_stack = stack};
    look(&pending, &sighting);
}
