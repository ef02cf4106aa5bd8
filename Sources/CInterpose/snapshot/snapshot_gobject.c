/* See snapshot_gobject.h.
 *
 *   instance --> class     +0 type: a fundamental type's number, else the address of its node
 *   node                   +20 number of ancestors (8 bits), then flags  +32 data
 *                          +40 number of the name
 *                          +72 the node itself, its parent, … the fundamental type
 *   in front of the node of a fundamental type: flags
 *   data                   holds the address of the class, once that is made
 *   table of names         a variable of libglib points to it: 0, name 1, name 2 …
 *
 * Source: struct _TypeNode in gobject/gtype.c and g_quark_to_string in glib/gquark.c of GLib; nodes
 * have been the same since 2.26. */
#include "snapshot/snapshot_gobject.h"

#include "loader/image_map.h"
#include "snapshot/snapshot_reads.h"

enum { FLAGS = 16, ANCESTOR_COUNT = 20, DATA = 32, NAME = 40, TYPES = 72, DATA_SIZE = 96 };
#define INSTANTIATABLE                                                                             \
    (UINT64_C(1) << (32 + 18)) /* of FLAGS, whose upper half begins with the count */
enum { GREATEST_FUNDAMENTAL = 255 << 2, MOST_ANCESTORS = 64 };
/* In front of the node of a fundamental type: it has classes and instances; all flags there are. */
enum { HAS_INSTANCES = 3, GREATEST_FLAGS = 15, TYPES_BEHIND = (TYPES + 8) / 8 };
enum { MOST_NODES = 1 << 14, LEAST_NODES = 8, CHECKED_NAMES = 64, GREATEST_NAME = 1 << 24 };

struct span {
    uintptr_t start, end;
};

static struct {
    struct mt_snapshot_writer *writer;
    uint64_t nodes[MOST_NODES];
    uint32_t count;
    uint64_t names; /* the table; 0: not found */
} g_search;
MT_IDLE_AT_START(g_search);

/* ---- Nodes ---- */

static uint32_t name_of(uint64_t node) {
    return (uint32_t)mt_snapshot_field(node, NAME);
}

static bool has_data(uint64_t node) {
    uint64_t data = mt_snapshot_field(node, DATA);
    return data % 8 == 0 && name_of(node) > 0 && name_of(node) < GREATEST_NAME &&
           (data == 0 || mt_snapshot_can_read(data, DATA_SIZE));
}

/* A node names all its ancestors, which do so themselves. */
static bool is_node(uint64_t node) {
    if (!mt_snapshot_can_read(node, TYPES + 16))
        return false;
    uint8_t count = *(const uint8_t *)(node + ANCESTOR_COUNT);
    if (count == 0 || count > MOST_ANCESTORS ||
        !mt_snapshot_can_read(node, TYPES + ((size_t)count + 1) * 8))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t type = mt_snapshot_field(node, TYPES + i * 8);
        if (type % 8 || !mt_snapshot_can_read(type, TYPES + 8) ||
            mt_snapshot_field(type, TYPES) != type)
            return false;
    }
    uint64_t fundamental = mt_snapshot_field(node, TYPES + (uint64_t)count * 8);
    return fundamental > 0 && fundamental <= GREATEST_FUNDAMENTAL && fundamental % 4 == 0 &&
           has_data(node);
}

static void find_nodes(uint64_t page, const uint64_t *words, void *context) {
    (void)context;
    for (size_t i = 0; i < MT_PAGE_SIZE / 8; i++) {
        uint64_t node = page + i * 8 - TYPES;
        if (words[i] == node && g_search.count < MOST_NODES && is_node(node))
            g_search.nodes[g_search.count++] = node;
    }
}

/* ---- Names ---- */

/* returns  the length of the name of a type, as g_type_register accepts it; 0 when it is none */
static size_t read_type_name(uint64_t names, uint32_t number, char *name) {
    uint64_t slot = names + (uint64_t)number * 8;
    if (!mt_snapshot_can_read(slot, 8))
        return 0;
    size_t length = mt_snapshot_read_name(mt_snapshot_field(slot, 0), name);
    for (size_t i = 0; i < length; i++) {
        char letter = (char)(name[i] | 32);
        bool is_letter = (letter >= 'a' && letter <= 'z') || name[i] == '_';
        bool is_inner = (name[i] >= '0' && name[i] <= '9') || name[i] == '-' || name[i] == '+';
        if (!is_letter && !(is_inner && i > 0))
            return 0;
    }
    return length >= 3 ? length : 0;
}

/* A table in which nodes have names of types, and one of them that of a type which libgobject
 * itself registers. */
static bool is_name_table(uint64_t names) {
    char name[MT_SNAPSHOT_NAME_MAX];
    bool is_known = false;
    if (names % 8 || !mt_snapshot_can_read(names, 16) || mt_snapshot_field(names, 0) != 0 ||
        mt_snapshot_field(names, 8) == 0)
        return false;
    for (uint32_t i = 0; i < g_search.count && i < CHECKED_NAMES; i++) {
        size_t length = read_type_name(names, name_of(g_search.nodes[i]), name);
        if (length == 0)
            return false;
        is_known |= length >= 6 && memcmp(name, "GParam", 6) == 0;
    }
    return is_known;
}

static void find_name_table(uint64_t page, const uint64_t *words, void *context) {
    const struct span *library = context;
    for (size_t i = 0; i < MT_PAGE_SIZE / 8 && g_search.names == 0; i++) {
        uint64_t address = page + i * 8;
        if (address >= library->start && address < library->end && words[i] != 0 &&
            is_name_table(words[i]))
            g_search.names = words[i];
    }
}

/* ---- Classes ---- */

static uint64_t class_of(uint64_t node, uint64_t type) {
    uint64_t data = mt_snapshot_field(node, DATA);
    for (uint64_t offset = 0; data && offset < DATA_SIZE; offset += 8) {
        uint64_t word = mt_snapshot_field(data, offset);
        if (word % 8 == 0 && mt_snapshot_can_read(word, 8) && mt_snapshot_field(word, 0) == type)
            return word;
    }
    return 0;
}

static void write_class(uint64_t node, uint64_t type) {
    char name[MT_SNAPSHOT_NAME_MAX];
    /* Those of enumerations and interfaces have no instances. */
    if (!(mt_snapshot_field(node, FLAGS) & INSTANTIATABLE))
        return;
    size_t length = read_type_name(g_search.names, name_of(node), name);
    uint64_t class = class_of(node, type);
    if (length == 0 || class == 0)
        return;
    struct mt_snapshot_class record = {
        .address = class, .kind = MT_SNAPSHOT_GOBJECT_CLASS, .name_length = (uint32_t)length};
    mt_snapshot_record(g_search.writer, MT_SNAPSHOT_CLASS, &record, sizeof record, name, length);
}

/* What begins with these flags in front of a node is a fundamental type with instances. */
static bool has_instances(uint64_t flags) {
    return (flags & ~(uint64_t)GREATEST_FLAGS) == 0 && (flags & HAS_INSTANCES) == HAS_INSTANCES;
}

/* Of fundamental types, which have numbers in place of their addresses: GObject, the classes of
 * Vala that are derived from none. Most small numbers are no type's, as the words around them tell.
 */
static void find_fundamental_classes(uint64_t page, const uint64_t *words, void *context) {
    (void)context;
    for (size_t i = 0; i < MT_PAGE_SIZE / 8; i++) {
        uint64_t type = words[i], node = page + i * 8 - TYPES;
        if (type == 0 || type > GREATEST_FUNDAMENTAL || type % 4 != 0 ||
            (i >= TYPES_BEHIND && !has_instances(words[i - TYPES_BEHIND])) ||
            !mt_snapshot_can_read(node - 8, TYPES + 24))
            continue;
        if (has_instances(mt_snapshot_field(node - 8, 0)) &&
            mt_snapshot_field(node, TYPES + 8) == 0 &&
            *(const uint8_t *)(node + ANCESTOR_COUNT) == 0 && has_data(node))
            write_class(node, type);
    }
}

static void visit(struct mt_page_walker *walker, const struct mt_region_list *list,
                  struct span span, mt_page_visitor *visitor) {
    for (size_t i = 0; i < list->count; i++) {
        const struct mt_region *region = &list->regions[i];
        if (mt_region_is_open(region) && region->start < span.end && region->end > span.start)
            mt_pages_visit(walker, region, visitor, &span);
    }
}

void mt_snapshot_gobject(struct mt_snapshot_writer *writer, struct mt_page_walker *walker,
                         const struct mt_region_list *list) {
    struct span library, everything = {0, UINTPTR_MAX};
    if (!mt_image_map_find_image("libgobject-2.0.so", &library.start, &library.end) ||
        !mt_image_map_find_image("libglib-2.0.so", &library.start, &library.end))
        return;
    g_search.writer = writer;
    g_search.count = 0;
    g_search.names = 0;
    visit(walker, list, everything, find_nodes);
    if (g_search.count < LEAST_NODES)
        return;
    visit(walker, list, library, find_name_table);
    if (g_search.names == 0)
        return;
    for (uint32_t i = 0; i < g_search.count; i++)
        write_class(g_search.nodes[i], g_search.nodes[i]);
    visit(walker, list, everything, find_fundamental_classes);
}
