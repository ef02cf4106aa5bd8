/* Finds stack ids by the 64-bit hashes of their paths (stack_table.h).
 *
 * 57 bits of a hash are compared, and taken as proof: with half a million paths the chance that any
 * is taken for another is 4 in 10^6.
 *
 * The memory of the index is the host's: it grows to 4 MiB, and beyond that with the host, to a
 * hundredth of its memory. What then finds no place takes that of another path, which gets a new
 * id, and new nodes as far as they are missing, when it is met again: the trace gets longer, but
 * nothing gets wrong.
 *
 * Lookups take no lock. An entry is one word; an index that was outgrown stays readable for ever.
 */
#ifndef MT_STACK_INDEX_H
#define MT_STACK_INDEX_H

#include "base/os.h"
#include "memtrace_format.h"

/* Lines of eight entries, of the size of a cache line. A path has two lines where its entry may be.
 *
 *      hash    first line : line_bits | tag : 63 - id_bits | not kept
 *      entry   tag | which of the two lines : 1 | id : id_bits               0: free
 *
 * The second line is told by the first and the tag, so that an entry tells its hash as far as it is
 * kept, and can be moved into a larger index. Replaced by that one, never unmapped: a reader may
 * still look at it, and then finds zeros, that is nothing. */
enum { MT_STACK_LINE = 8 };
struct mt_stack_index {
    uint32_t line_bits, id_bits;
    uint64_t unused[MT_STACK_LINE - 1];
    uint64_t lines[][MT_STACK_LINE];
};
extern MT_INTERNAL struct mt_stack_index *mt_stack_index;

/* Where an entry may be, and what it looks like there but for its id. */
struct mt_stack_place {
    uint64_t line[2], entry[2];
};

static inline struct mt_stack_place mt_stack_place_of(const struct mt_stack_index *index,
                                                      uint64_t hash) {
    uint64_t tag = hash << index->line_bits >> (index->id_bits + 1);
    uint64_t first = hash >> (64 - index->line_bits);
    uint64_t step = (tag * 0x9e3779b97f4a7c15u) >> (64 - index->line_bits) | 1;
    uint64_t entry = tag << (index->id_bits + 1);
    return (struct mt_stack_place){{first, first ^ step}, {entry, entry | 1ull << index->id_bits}};
}

/* The id of an entry of the line that looks like that; else MT_STACK_NONE. */
static inline uint32_t mt_stack_id_in_line(const uint64_t line[MT_STACK_LINE], uint64_t entry,
                                           uint32_t id_bits) {
    for (int i = 0; i < MT_STACK_LINE; i++) {
        uint64_t found = __atomic_load_n(&line[i], __ATOMIC_ACQUIRE) ^ entry;
        if (mt_unlikely(found >> id_bits == 0))
            return (uint32_t)found;
    }
    return MT_STACK_NONE;
}

/* Fetches what mt_stack_index_find(hash) will read: lines that are seldom in a near cache. */
static inline void mt_stack_index_prefetch(uint64_t hash) {
    const struct mt_stack_index *index = __atomic_load_n(&mt_stack_index, __ATOMIC_ACQUIRE);
    if (mt_unlikely(!index))
        return;
    struct mt_stack_place place = mt_stack_place_of(index, hash);
    __builtin_prefetch(index->lines[place.line[0]]);
    __builtin_prefetch(index->lines[place.line[1]]);
}

static inline uint32_t mt_stack_index_find(uint64_t hash) {
    const struct mt_stack_index *index = __atomic_load_n(&mt_stack_index, __ATOMIC_ACQUIRE);
    if (mt_unlikely(!index))
        return MT_STACK_NONE;
    struct mt_stack_place place = mt_stack_place_of(index, hash);
    __builtin_prefetch(index->lines[place.line[1]]);
    uint32_t id = mt_stack_id_in_line(index->lines[place.line[0]], place.entry[0], index->id_bits);
    if (mt_likely(id != MT_STACK_NONE))
        return id;
    return mt_stack_id_in_line(index->lines[place.line[1]], place.entry[1], index->id_bits);
}

/* ---- Changes: by one thread at a time ---- */

/* Sets how large it may get whatever the host's memory, in bytes. */
void mt_stack_index_set_limit(uint64_t bytes);

/* Its length in bytes. */
uint64_t mt_stack_index_length(void);

/* Whether ids below this one need no mt_stack_index_make_room. */
static inline bool mt_stack_index_has_room(uint32_t end_id) {
    return mt_stack_index && (end_id - 1) >> mt_stack_index->id_bits == 0;
}

/* Readies the index for another id, which must be higher than all before.
 * returns  false when there is no memory */
bool mt_stack_index_make_room(uint32_t id);

/* Adds a path that is not there. After mt_stack_index_make_room(id). */
void mt_stack_index_add(uint64_t hash, uint32_t id);

/* Empties it.
 * keeps_memory  an interrupted hook may still read it */
void mt_stack_index_reset(bool keeps_memory);

#endif
