/* See snapshot_keeper.h.
 *
 * Bits say of each word what it can be; what a word is next to others follows from shifts of them.
 * Only what passes that is looked at one by one. */
#include "snapshot/snapshot_keeper.h"

#include "snapshot/snapshot_swift.h"
#include <string.h>

enum { BLOCKS = MT_PAGE_BLOCKS, BITS = MT_FILTER_WORDS };

/* What a side table counts whose object is freed: no reference, bit 32 for being taken down. It
 * stays for the weak references, and still has the address of what was the object. */
#define MT_SWIFT_COUNTS_OF_FREED UINT64_C(0x100000001)

/* Words at even places. */
#define MT_EVEN UINT64_C(0x5555555555555555)

struct page {
    uint64_t address;
    const uint64_t *words;
    uint64_t *kept;
    uint64_t points[BLOCKS + 1]; /* one more: what may follow the page */
    uint64_t zero[BLOCKS];
    uint64_t odd[BLOCKS + 1]; /* likewise */
};

static size_t take_lowest(uint64_t *bits) {
    size_t lowest = (size_t)__builtin_ctzll(*bits);
    *bits &= *bits - 1;
    return lowest;
}

/* The bit of a word is that of the one before it, and that of one behind it. */
static uint64_t of_previous(const uint64_t *bits, size_t block) {
    return bits[block] << 1 | (block ? bits[block - 1] >> (BITS - 1) : 0);
}

static uint64_t of_following(const uint64_t *bits, size_t block, unsigned distance) {
    return bits[block] >> distance | bits[block + 1] << (BITS - distance);
}

static void keep(struct page *page, size_t i) {
    page->kept[i / BITS] |= UINT64_C(1) << i % BITS;
}

/* Keeps the words of a page from an index on up to an address, and those of pages behind it. */
static void keep_until(struct mt_keeper *keeper, struct page *page, size_t from, uint64_t end) {
    if (end > keeper->kept_end)
        keeper->kept_end = end;
    for (size_t i = from; i < MT_PAGE_WORDS && page->address + i * 8 < end; i++)
        keep(page, i);
}

/* ---- Pointers ---- */

/* What is likely to be looked at next, the same part of the page behind: it comes from memory
 * meanwhile. No fault where there is none. */
static void fetch_ahead(const uint64_t *words) {
    for (size_t i = 0; i < BITS; i += 8)
        __builtin_prefetch(words + MT_PAGE_WORDS + i);
}

/* A std::string of libstdc++ whose text lies in it begins with the address of what is two words
 * further on, and the length of the text. What was there before is left behind a short one: only
 * where that can point are length and text of use. */
static void find_text(struct mt_keeper *keeper, struct page *page, size_t i) {
    if (page->words[i] - (page->address + i * 8) != 16 || i + 3 >= MT_PAGE_WORDS ||
        !mt_pointer_filter_hits(&keeper->filter, page->words[i + 3] & MT_ADDRESS_BITS))
        return;
    keep(page, i + 1);
    keep(page, i + 2);
}

static void find_pointers(struct mt_keeper *keeper, struct page *page, size_t block) {
    const uint64_t *words = page->words + block * BITS;
    fetch_ahead(words);
    struct mt_word_bits bits = mt_word_bits(&keeper->filter, words);
    uint64_t points = bits.may_point;
    for (uint64_t left = points; left;) {
        size_t i = take_lowest(&left);
        if (!mt_word_can_point(&keeper->filter, words[i]))
            points &= ~(UINT64_C(1) << i);
        else if (words[i] == keeper->slab)
            keep_until(keeper, page, block * BITS + i,
                       page->address + (block * BITS + i) * 8 + MT_SWIFT_SLAB_HEADER);
        else
            find_text(keeper, page, block * BITS + i);
    }
    page->points[block] = points;
    page->zero[block] = bits.zero;
    page->odd[block] = bits.odd;
    page->kept[block] |= points;
}

/* ---- Reference counts ---- */

/* What follows a pointer can count, and the two can begin a table or an array. */
static void find_counts(struct mt_keeper *keeper, struct page *page, size_t block) {
    for (uint64_t left = of_previous(page->points, block) & page->odd[block]; left;) {
        size_t i = block * BITS + take_lowest(&left);
        uint64_t object = page->address + i * 8 - 8;
        if (!mt_word_can_count(page->words[i]))
            continue;
        keep(page, i);
        if (page->words == (const uint64_t *)page->address)
            keep_until(keeper, page, i, object + mt_snapshot_swift_header(object));
    }
}

/* What counts the owners of a shared_ptr, behind its virtual functions. Where there are no owners
 * any more, these stand at the beginning of a block, or a pointer follows: the object or what
 * deletes it. */
static void find_shared_counts(struct page *page, size_t block) {
    uint64_t left = of_previous(page->points, block) & ~(page->points[block] | page->zero[block]);
    uint64_t expired = (of_following(page->points, block, 1) | ~MT_EVEN) & ~page->odd[block];
    while (left) {
        size_t i = block * BITS + take_lowest(&left);
        bool can_be_expired = expired >> i % BITS & 1 && mt_word_can_be_expired(page->words[i]);
        if (can_be_expired || mt_word_can_count_owners(page->words[i]))
            keep(page, i);
    }
}

/* A Python object that is never freed: a count that says so, in front of the address of its class.
 */
static void find_immortal_counts(struct page *page, size_t block) {
    for (uint64_t left = of_following(page->points, block, 1) & page->odd[block]; left;) {
        size_t i = block * BITS + take_lowest(&left);
        if (mt_word_is_immortal(page->words[i]))
            keep(page, i);
    }
}

/* ---- Side tables ---- */

/* A Swift side table: object, nothing, counts, weak references. It begins on a multiple of 16, so
 * that each half of it lies in one page. */
static bool can_be_other_half(const uint64_t *words) {
    bool can_count = mt_word_can_count(words[0]) || words[0] == MT_SWIFT_COUNTS_OF_FREED;
    return can_count && (uint32_t)words[1] != 0;
}

static void find_side_tables(struct mt_keeper *keeper, struct page *page, size_t block) {
    uint64_t left = page->points[block] & MT_EVEN & of_following(page->odd, block, 2);
    while (left) {
        size_t i = block * BITS + take_lowest(&left);
        if (page->words[i] == keeper->slab)
            continue;
        if (i + 2 == MT_PAGE_WORDS)
            keeper->other_half = page->address + MT_PAGE_SIZE;
        else if (can_be_other_half(page->words + i + 2))
            keep_until(keeper, page, i, page->address + i * 8 + 32);
    }
}

/* ---- Pages ---- */

static void keep_pointers(struct mt_keeper *keeper, struct page *page) {
    if (keeper->other_half == page->address && can_be_other_half(page->words))
        keep_until(keeper, page, 0, page->address + 16);
    keep_until(keeper, page, 0, keeper->kept_end);
    for (size_t block = 0; block < BLOCKS; block++)
        find_pointers(keeper, page, block);
    page->odd[BLOCKS] = page->points[BLOCKS] = UINT64_MAX;
    for (size_t block = 0; block < BLOCKS; block++) {
        find_counts(keeper, page, block);
        find_shared_counts(page, block);
        find_immortal_counts(page, block);
        find_side_tables(keeper, page, block);
        page->kept[block] &= ~page->zero[block];
    }
}

static void keep_all(struct mt_keeper *keeper, struct page *page) {
    for (size_t block = 0; block < BLOCKS; block++)
        page->kept[block] = ~mt_word_bits(&keeper->filter, page->words + block * BITS).zero;
}

void mt_keeper_begin(struct mt_keeper *keeper, const struct mt_region_list *list,
                     struct mt_span *spans, bool keeps_all) {
    mt_pointer_filter_make(&keeper->filter, list, spans);
    keeper->keeps_all = keeps_all;
    keeper->slab = keeper->kept_end = keeper->other_half = 0;
}

bool mt_keeper_select(struct mt_keeper *keeper, uint64_t page, const uint64_t *words,
                      uint64_t *kept) {
    struct page state = {.address = page, .words = words, .kept = kept};
    memset(kept, 0, BLOCKS * sizeof *kept);
    if (keeper->keeps_all)
        keep_all(keeper, &state);
    else
        keep_pointers(keeper, &state);
    uint64_t any = 0;
    for (size_t block = 0; block < BLOCKS; block++)
        any |= kept[block];
    return any != 0;
}
