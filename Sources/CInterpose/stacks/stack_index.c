/* Finds stack ids. See stack_index.h. */
#include "stacks/stack_index.h"

enum {
    FIRST_LINE_BITS = 11,
    SPARE_ID_BITS = 6, /* there can be so many more ids than lines: eight for each place */
    OF_HOST = 100,     /* an index of this part of the host's memory is allowed */
    PATIENCE = 1 << 16 /* entries that are replaced before the host's memory is looked at again */
};

struct mt_stack_index *mt_stack_index;

static struct {
    uint64_t limit; /* it is always allowed to be so long, in bytes */
    uint64_t replaced;
    uint64_t look_again; /* at the host's memory, at this number of replaced ones */
} g_index = {.limit = 4 << 20};

static uint64_t places(uint32_t line_bits) {
    return (uint64_t)MT_STACK_LINE << line_bits;
}

static size_t index_length(uint32_t line_bits) {
    return sizeof(struct mt_stack_index) + places(line_bits) * sizeof(uint64_t);
}

/* A free place of a line; NULL when it is full. *room: how many there are. */
static uint64_t *free_place(uint64_t line[MT_STACK_LINE], unsigned *room) {
    uint64_t *found = NULL;
    *room = 0;
    for (int i = MT_STACK_LINE; i-- > 0;)
        if (line[i] == 0) {
            found = &line[i];
            ++*room;
        }
    return found;
}

/* Puts an entry into the emptier one of its lines. False when both are full. */
static bool insert(struct mt_stack_index *index, uint64_t hash, uint32_t id) {
    struct mt_stack_place place = mt_stack_place_of(index, hash);
    unsigned room[2];
    uint64_t *found[2];
    for (int i = 0; i < 2; i++)
        found[i] = free_place(index->lines[place.line[i]], &room[i]);
    int chosen = room[1] > room[0];
    if (!found[chosen])
        return false;
    __atomic_store_n(found[chosen], place.entry[chosen] | id, __ATOMIC_RELEASE);
    return true;
}

static void replace_another(struct mt_stack_index *index, uint64_t hash, uint32_t id) {
    struct mt_stack_place place = mt_stack_place_of(index, hash);
    uint64_t *victim = &index->lines[place.line[0]][g_index.replaced++ % MT_STACK_LINE];
    __atomic_store_n(victim, place.entry[0] | id, __ATOMIC_RELEASE);
}

/* What an entry keeps of its hash. */
static uint64_t hash_of(const struct mt_stack_index *index, uint64_t line, uint64_t entry) {
    uint64_t tag = entry >> (index->id_bits + 1);
    if (entry >> index->id_bits & 1)
        line ^= (tag * 0x9e3779b97f4a7c15u) >> (64 - index->line_bits) | 1;
    return line << (64 - index->line_bits) | tag << (index->id_bits + 1) >> index->line_bits;
}

/* Moves all entries into a new index, and gives the memory of the old one back, all but the page
 * with its measures. */
static bool rebuild(uint32_t line_bits, uint32_t id_bits) {
    struct mt_stack_index *old = mt_stack_index, *index = mt_os_map_pages(index_length(line_bits));
    if (!index)
        return false;
    index->line_bits = line_bits;
    index->id_bits = id_bits;
    uint64_t id_mask = old ? (1ull << old->id_bits) - 1 : 0;
    for (uint64_t line = 0; old && line < 1ull << old->line_bits; line++)
        for (int i = 0; i < MT_STACK_LINE; i++) {
            uint64_t entry = old->lines[line][i];
            if (entry)
                insert(index, hash_of(old, line, entry), (uint32_t)(entry & id_mask));
        }
    __atomic_store_n(&mt_stack_index, index, __ATOMIC_RELEASE);
    if (old)
        mt_os_empty_pages((uint8_t *)old + MT_PAGE_SIZE,
                          index_length(old->line_bits) - MT_PAGE_SIZE);
    return true;
}

/* Whether an index of this length is in proportion to the host. */
static bool is_allowed(uint64_t length) {
    if (length <= g_index.limit)
        return true;
    if (g_index.replaced < g_index.look_again)
        return false;
    g_index.look_again = g_index.replaced + PATIENCE;
    return length <= mt_os_peak_bytes() / OF_HOST;
}

bool mt_stack_index_make_room(uint32_t id) {
    struct mt_stack_index *index = mt_stack_index;
    if (!index)
        return rebuild(FIRST_LINE_BITS, FIRST_LINE_BITS + SPARE_ID_BITS);
    return id >> index->id_bits == 0 || rebuild(index->line_bits, index->id_bits + 1);
}

static bool grow(void) {
    struct mt_stack_index *index = mt_stack_index;
    return is_allowed(2 * mt_stack_index_length()) &&
           rebuild(index->line_bits + 1, index->id_bits + 1);
}

/* Both lines of a path are full, by when some four of five places are taken: the index doubles if
 * it may. */
MT_COLD static void add_where_full(uint64_t hash, uint32_t id) {
    uint64_t signals = mt_os_block_signals(); /* the change may be an interruptible one */
    if (!(grow() && insert(mt_stack_index, hash, id)))
        replace_another(mt_stack_index, hash, id);
    mt_os_restore_signals(signals);
}

void mt_stack_index_add(uint64_t hash, uint32_t id) {
    if (mt_unlikely(!insert(mt_stack_index, hash, id)))
        add_where_full(hash, id);
}

void mt_stack_index_reset(bool keeps_memory) {
    struct mt_stack_index *index = mt_stack_index;
    if (index && !keeps_memory)
        mt_os_unmap_pages(index, index_length(index->line_bits));
    mt_stack_index = NULL;
    g_index.replaced = g_index.look_again = 0;
}

void mt_stack_index_set_limit(uint64_t bytes) {
    g_index.limit = bytes;
}

uint64_t mt_stack_index_length(void) {
    return mt_stack_index ? places(mt_stack_index->line_bits) * sizeof(uint64_t) : 0;
}
