/* See snapshot_python.h. */
#include "snapshot/snapshot_python.h"

#include "snapshot/snapshot_reads.h"

/* Fields of PyTypeObject, the same since Python 3.0 (Include/cpython/object.h). */
enum {
    TYPE_OF = 8,
    NAME = 24,
    BASIC_SIZE = 32,
    FLAGS = 168,
    OBJECT_SIZE = 256 /* of those looked at */
};
#define MT_PYTHON_TYPE_SUBCLASS (UINT64_C(1) << 31)

enum { MOST_METACLASSES = 32, MOST_CLASSES = 1 << 16, MOST_PASSES = 4, FILTER_WORDS = 8 };

struct search {
    struct mt_snapshot_writer *writer;
    struct mt_page_walker *walker;
    uint64_t metaclasses[MOST_METACLASSES];
    uint32_t first; /* of those whose instances are looked for in this pass */
    uint32_t end;
    uint32_t count; /* with those found in this pass */
    uint32_t classes;
    uint64_t low, span;            /* of the metaclasses of this pass */
    uint64_t filter[FILTER_WORDS]; /* a bit for each of them, see filter_bit */
};

/* returns  the length of the name of the class at an address; 0 when no class is there */
static size_t read_class(uint64_t object, char *name) {
    if (object % 8 || !mt_snapshot_can_read(object, OBJECT_SIZE))
        return 0;
    uint64_t size = mt_snapshot_field(object, BASIC_SIZE);
    return size >= 16 && size < 1 << 20
               ? mt_snapshot_read_name(mt_snapshot_field(object, NAME), name)
               : 0;
}

/* ---- Search ---- */

/* An object that is its own class, and called so. */
static void find_type(uint64_t page, const uint64_t *words, void *context) {
    struct search *search = context;
    char name[MT_SNAPSHOT_NAME_MAX];
    for (size_t i = 0; i < MT_PAGE_SIZE / 8 && search->count == 0; i++) {
        uint64_t object = page + i * 8 - TYPE_OF;
        if (words[i] == object && read_class(object, name) == 4 && memcmp(name, "type", 4) == 0)
            search->metaclasses[search->count++] = object;
    }
}

static bool is_metaclass(const struct search *search, uint64_t word, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++)
        if (search->metaclasses[i] == word)
            return true;
    return false;
}

/* The bit of an address among 64 * FILTER_WORDS; objects lie at multiples of 16. */
static uint32_t filter_bit(uint64_t word) {
    return (uint32_t)((word >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 55);
}

/* PyTorch has 30 metaclasses: comparing every word of the memory with each of them took longer
 * than all else of the snapshot. */
static void prepare_pass(struct search *search) {
    uint64_t high = 0;
    search->first = search->end;
    search->end = search->count;
    search->low = UINT64_MAX;
    memset(search->filter, 0, sizeof search->filter);
    for (uint32_t i = search->first; i < search->end; i++) {
        uint64_t word = search->metaclasses[i];
        uint32_t bit = filter_bit(word);
        search->filter[bit / 64] |= UINT64_C(1) << bit % 64;
        search->low = word < search->low ? word : search->low;
        high = word > high ? word : high;
    }
    search->span = high - search->low;
}

static bool can_be_metaclass(const struct search *search, uint64_t word) {
    uint32_t bit = filter_bit(word);
    return word - search->low <= search->span && (search->filter[bit / 64] >> bit % 64 & 1);
}

static void write_class(struct search *search, uint64_t object) {
    char name[MT_SNAPSHOT_NAME_MAX];
    size_t length = read_class(object, name);
    if (length == 0 || search->classes >= MOST_CLASSES)
        return;
    search->classes++;
    struct mt_snapshot_class record = {
        .address = object, .kind = MT_SNAPSHOT_PYTHON_CLASS, .name_length = (uint32_t)length};
    mt_snapshot_record(search->writer, MT_SNAPSHOT_CLASS, &record, sizeof record, name, length);
    if ((mt_snapshot_field(object, FLAGS) & MT_PYTHON_TYPE_SUBCLASS) &&
        search->count < MOST_METACLASSES && !is_metaclass(search, object, 0, search->count))
        search->metaclasses[search->count++] = object;
}

static void find_classes(uint64_t page, const uint64_t *words, void *context) {
    struct search *search = context;
    for (size_t i = 0; i < MT_PAGE_SIZE / 8; i++)
        if (can_be_metaclass(search, words[i]) &&
            is_metaclass(search, words[i], search->first, search->end))
            write_class(search, page + i * 8 - TYPE_OF);
}

static void visit(struct search *search, const struct mt_region_list *list, uint32_t source,
                  mt_page_visitor *visitor) {
    for (size_t i = 0; i < list->count; i++) {
        const struct mt_region *region = &list->regions[i];
        if (source ? region->source == source : mt_region_is_open(region))
            mt_pages_visit(search->walker, region, visitor, search);
    }
}

void mt_snapshot_python(struct mt_snapshot_writer *writer, struct mt_page_walker *walker,
                        const struct mt_region_list *list) {
    struct search search = {.writer = writer, .walker = walker};
    visit(&search, list, MT_PAGES_WRITTEN, find_type);
    for (int pass = 0; pass < MOST_PASSES && search.end < search.count; pass++) {
        prepare_pass(&search);
        visit(&search, list, 0, find_classes);
    }
}
