/* See quarantine.h. */
#include "zombies/quarantine.h"

#include "base/os.h"

enum {
    FEWEST_BLOCKS = 4096,
    MOST_BLOCKS = 1 << 22,
    SPARE_ORDER = 2, /* places of the order for each block: threads that add at once need some */
    SPARE_HELD = 4,  /* the same of addresses: a full bucket turns a block away */
    BUCKET = 16      /* two cache lines; on average a quarter of it is in use, or less */
};

static uint64_t power_above(uint64_t number) {
    uint64_t power = 1;
    while (power < number)
        power *= 2;
    return power;
}

bool mt_quarantine_begin(struct mt_quarantine *quarantine, uint64_t byte_limit) {
    uint64_t blocks = power_above(byte_limit / MT_KEPT_BLOCK_SHARE);
    if (blocks < FEWEST_BLOCKS)
        blocks = FEWEST_BLOCKS;
    if (blocks > MOST_BLOCKS)
        blocks = MOST_BLOCKS;
    uint64_t places = blocks * SPARE_ORDER, buckets = blocks * SPARE_HELD / BUCKET;
    uint64_t *order = mt_os_map_pages(places * sizeof *order);
    uintptr_t *held = mt_os_map_pages(buckets * BUCKET * sizeof *held);
    if (!order || !held)
        return false;
    *quarantine = (struct mt_quarantine){.order = order,
                                         .order_mask = places - 1,
                                         .held = held,
                                         .held_shift = 64 - (uint32_t)__builtin_ctzll(buckets),
                                         .byte_limit = byte_limit};
    return true;
}

/* ---- One block in one word ---- */

static uint64_t pack(struct mt_kept_block block) {
    return (uint64_t)block.address >> 3 << MT_KEPT_SIZE_BITS | block.size >> 3;
}

static struct mt_kept_block unpack(uint64_t packed) {
    return (struct mt_kept_block){(uintptr_t)(packed >> MT_KEPT_SIZE_BITS << 3),
                                  (packed & ((1u << MT_KEPT_SIZE_BITS) - 1)) << 3};
}

/* ---- Addresses ---- */

static uintptr_t *bucket_of(const struct mt_quarantine *quarantine, uintptr_t address) {
    uint64_t hash = (uint64_t)(address >> 3) * 0x9e3779b97f4a7c15u;
    return quarantine->held + (hash >> quarantine->held_shift) * BUCKET;
}

/* Puts `new` where `old` is. False when that is nowhere. */
static bool replace(uintptr_t *bucket, uintptr_t old, uintptr_t new) {
    for (size_t i = 0; i < BUCKET; i++) {
        uintptr_t expected = old;
        if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) == old &&
            __atomic_compare_exchange_n(&bucket[i], &expected, new, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

bool mt_quarantine_holds(const struct mt_quarantine *quarantine, uintptr_t address) {
    const uintptr_t *bucket = bucket_of(quarantine, address);
    for (size_t i = 0; i < BUCKET; i++)
        if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) == address)
            return address != 0;
    return false;
}

/* ---- In and out ---- */

/* Whoever gets the address out of its bucket owns the block. */
static bool claim(struct mt_quarantine *quarantine, uint64_t packed, struct mt_kept_block *block) {
    if (packed == 0)
        return false;
    *block = unpack(packed);
    __atomic_fetch_sub(&quarantine->bytes, block->size, __ATOMIC_RELAXED);
    return replace(bucket_of(quarantine, block->address), block->address, 0);
}

bool mt_quarantine_add(struct mt_quarantine *quarantine, struct mt_kept_block block,
                       struct mt_kept_block *surplus) {
    *surplus = (struct mt_kept_block){0};
    if (!replace(bucket_of(quarantine, block.address), 0, block.address))
        return false;
    __atomic_fetch_add(&quarantine->bytes, block.size, __ATOMIC_RELAXED);
    uint64_t number = __atomic_fetch_add(&quarantine->next, 1, __ATOMIC_ACQ_REL);
    uint64_t left = __atomic_exchange_n(&quarantine->order[number & quarantine->order_mask],
                                        pack(block), __ATOMIC_ACQ_REL);
    if (!claim(quarantine, left, surplus))
        *surplus = (struct mt_kept_block){0};
    return true;
}

static bool is_surplus(const struct mt_quarantine *quarantine, uint64_t oldest) {
    uint64_t next = __atomic_load_n(&quarantine->next, __ATOMIC_ACQUIRE);
    uint64_t most = (quarantine->order_mask + 1) / SPARE_ORDER;
    uint64_t limit = __atomic_load_n(&quarantine->byte_limit, __ATOMIC_RELAXED);
    bool is_over =
        next - oldest > most || __atomic_load_n(&quarantine->bytes, __ATOMIC_RELAXED) > limit;
    return next != oldest && is_over;
}

void mt_quarantine_shrink(struct mt_quarantine *quarantine) {
    __atomic_store_n(&quarantine->byte_limit, 0, __ATOMIC_RELAXED);
}

bool mt_quarantine_take_surplus(struct mt_quarantine *quarantine, struct mt_kept_block *block) {
    uint64_t oldest = __atomic_load_n(&quarantine->oldest, __ATOMIC_ACQUIRE);
    while (is_surplus(quarantine, oldest)) {
        if (!__atomic_compare_exchange_n(&quarantine->oldest, &oldest, oldest + 1, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            continue;
        uint64_t packed = __atomic_exchange_n(&quarantine->order[oldest & quarantine->order_mask],
                                              0, __ATOMIC_ACQ_REL);
        if (claim(quarantine, packed, block))
            return true;
        oldest = __atomic_load_n(&quarantine->oldest, __ATOMIC_ACQUIRE);
    }
    return false;
}

/* While it is visited, a block is in nobody's reach. Its place may be somebody else's afterwards, a
 * round later: then it stays held, and goes back to nobody. */
static void visit_place(uint64_t *place, void (*visit)(struct mt_kept_block block, void *context),
                        void *context) {
    uint64_t packed = __atomic_exchange_n(place, 0, __ATOMIC_ACQ_REL), nothing = 0;
    if (packed == 0)
        return;
    visit(unpack(packed), context);
    __atomic_compare_exchange_n(place, &nothing, packed, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void mt_quarantine_visit(struct mt_quarantine *quarantine,
                         void (*visit)(struct mt_kept_block block, void *context), void *context) {
    uint64_t next = __atomic_load_n(&quarantine->next, __ATOMIC_ACQUIRE);
    for (uint64_t i = __atomic_load_n(&quarantine->oldest, __ATOMIC_ACQUIRE); i != next; i++)
        visit_place(&quarantine->order[i & quarantine->order_mask], visit, context);
}
