/* See zombie_search.h. */
#include "zombies/zombie_search.h"

#include "zombies/zombie_fill.h"

static bool has(const uint64_t *words, uint32_t count, uint64_t word) {
    for (uint32_t i = 0; i < count; i++)
        if (words[i] == word)
            return true;
    return false;
}

static bool is_pointed_to(const struct mt_held_words *held, uintptr_t block) {
    return has(held->registers, held->register_count, block) ||
           has(held->stack, held->stack_count, block);
}

/* The better one of two blocks, of which the first is nearer, if it is there. */
static uintptr_t better(const struct mt_held_words *held, uintptr_t first, uintptr_t second) {
    return first == 0 || is_pointed_to(held, second) ? second : first;
}

/* The block in reach of an address; nothing is nearer than one that something points to. */
static uintptr_t find_near(const struct mt_quarantine *quarantine, const struct mt_held_words *held,
                           uintptr_t address) {
    uintptr_t best = 0;
    address &= ~(uintptr_t)7;
    for (uintptr_t distance = 8; distance <= MT_ZOMBIE_REACH; distance += 8) {
        uintptr_t below = address - distance, above = address + distance;
        if (mt_quarantine_holds(quarantine, below))
            best = better(held, best, below);
        if (distance <= MT_ZOMBIE_REACH_BACK && mt_quarantine_holds(quarantine, above))
            best = better(held, best, above);
        if (best != 0 && is_pointed_to(held, best))
            break;
    }
    return best;
}

static uintptr_t find_exactly(const struct mt_quarantine *quarantine,
                              const struct mt_held_words *held) {
    for (uint32_t i = 0; i < held->register_count; i++) {
        uintptr_t address = mt_zombie_address_in(held->registers[i]);
        if (mt_quarantine_holds(quarantine, address))
            return address;
    }
    return 0;
}

uintptr_t mt_zombie_find(const struct mt_quarantine *quarantine, const struct mt_held_words *held) {
    uintptr_t block = find_exactly(quarantine, held);
    for (uint32_t i = 0; i < held->register_count && block == 0; i++)
        if ((held->registers[i] & ~MT_ZOMBIE_ADDRESS) == MT_ZOMBIE_TAG)
            block = find_near(quarantine, held, held->registers[i] & MT_ZOMBIE_ADDRESS);
    return block;
}
