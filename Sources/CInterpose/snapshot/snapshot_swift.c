/* See snapshot_swift.h.
 *
 *   table   +16 count  +24 capacity  +32 scale (8 bits): 2^scale buckets  +48 keys or elements
 *           +56 values, in that of a dictionary; a bit for each bucket; keys, values
 *   array   +16 count  +24 capacity, shifted by 1  +32 elements
 *   deque   +16 capacity  +24 count  +32 first slot in use  +40 slots
 *   node    +16 a bit for each item (u32)  +20 a bit for each child (u32)  +24 capacity in bytes
 *           (u32)  +28 bytes not in use (u32)  +32 children, of two words each  … items
 *
 * Source: stdlib/public/runtime/StackAllocator.h and stdlib/public/Concurrency/Debug.cpp of the
 * Swift repository, where the variable has been since Swift 5.7; DictionaryStorage.swift and
 * SetStorage.swift in stdlib/public/core; GlobalObjects.h in stdlib/public/SwiftShims;
 * _DequeBufferHeader.swift in stdlib/public/Concurrency/Deque, and in swift-collections;
 * _HashNodeHeader.swift there. */
#include "snapshot/snapshot_swift.h"

#include "base/text.h"
#include "loader/image_map.h"
#include "snapshot/snapshot_reads.h"
#include "snapshot/snapshot_slabs.h"
#include "snapshot/swift_image.h"

/* ---- Slabs of tasks ---- */

/* The address of what slabs begin with is in it. */
static const char symbol_name[] = "_swift_concurrency_debug_asyncTaskSlabMetadata";

static uint64_t value_of(const struct mt_wanted_symbol *symbol) {
    if (!symbol->address || symbol->address % 8 || !mt_snapshot_can_read(symbol->address, 8))
        return 0;
    return mt_snapshot_field(symbol->address, 0);
}

/* An executable with the runtime in it does not export it, and may be stripped. */
static uint64_t find(struct mt_page_walker *walker, const struct mt_region_list *list) {
    struct mt_wanted_symbol symbol = {.name = symbol_name};
    struct mt_loaded_image image;
    bool is_library = mt_image_map_find_loaded("libswift_Concurrency", &image);
    if (!is_library && !mt_image_map_find_loaded("", &image))
        return 0;
    bool may_be_stripped =
        mt_swift_image_find(&image, is_library ? SHT_DYNSYM : SHT_SYMTAB, &symbol);
    uint64_t metadata = value_of(&symbol);
    if (metadata || is_library || !may_be_stripped)
        return metadata;
    return mt_snapshot_slabs_find(walker, list, &image);
}

uint64_t mt_snapshot_swift(struct mt_snapshot_writer *writer, struct mt_page_walker *walker,
                           const struct mt_region_list *list) {
    uint64_t metadata = find(walker, list);
    if (!metadata)
        return 0;
    struct mt_snapshot_class record = {.address = metadata, .kind = MT_SNAPSHOT_SWIFT_SLAB};
    mt_snapshot_record(writer, MT_SNAPSHOT_CLASS, &record, sizeof record, "", 0);
    return metadata;
}

/* ---- Tables of dictionaries and sets, arrays, deques, and nodes of trees ---- */

enum { COUNT = 16, CAPACITY = 24, SCALE = 32, KEYS = 48, SET_HEADER = 56, GREATEST_SCALE = 40 };
/* The pointer to values, and what aligns keys behind the bits. */
enum { GREATEST_EXTRA = 8 + 15 };

enum { ARRAY_HEADER = 32 };
enum { DEQUE_CAPACITY = 16, DEQUE_COUNT = 24, DEQUE_FIRST = 32, DEQUE_HEADER = 40 };
enum { NODE_MAPS = 16, NODE_BYTES = 24, NODE_HEADER = 32, CHILD = 16 };
#define GREATEST_ARRAY (UINT64_C(1) << GREATEST_SCALE)

static bool can_read(uint64_t object, size_t size) {
    return object % MT_PAGE_SIZE + size <= MT_PAGE_SIZE || mt_snapshot_can_read(object, size);
}

/* The header and the bits of the buckets; 0: it has not the form of a table. */
static uint64_t table_length(uint64_t object) {
    if (!can_read(object, SET_HEADER))
        return 0;
    uint64_t scale = mt_snapshot_field(object, SCALE) & 0xff;
    if (scale == 0 || scale > GREATEST_SCALE)
        return 0;
    uint64_t buckets = UINT64_C(1) << scale;
    uint64_t bits = buckets < 64 ? 8 : buckets / 8;
    uint64_t length = mt_snapshot_field(object, KEYS) - object;
    bool has_form = length >= SET_HEADER + bits && length <= SET_HEADER + bits + GREATEST_EXTRA &&
                    mt_snapshot_field(object, CAPACITY) <= buckets &&
                    mt_snapshot_field(object, COUNT) <= mt_snapshot_field(object, CAPACITY);
    return has_form ? length : 0;
}

static bool has_form_of_array(uint64_t object) {
    if (!can_read(object, ARRAY_HEADER))
        return false;
    uint64_t capacity = mt_snapshot_field(object, CAPACITY);
    return capacity != 0 && capacity % 2 == 0 && capacity / 2 <= GREATEST_ARRAY &&
           mt_snapshot_field(object, COUNT) <= capacity / 2;
}

static bool has_form_of_deque(uint64_t object) {
    if (!can_read(object, DEQUE_HEADER))
        return false;
    uint64_t capacity = mt_snapshot_field(object, DEQUE_CAPACITY);
    return capacity != 0 && capacity <= GREATEST_ARRAY &&
           mt_snapshot_field(object, DEQUE_COUNT) <= capacity &&
           mt_snapshot_field(object, DEQUE_FIRST) <= capacity;
}

static uint32_t count_bits(uint32_t bits) {
    uint32_t count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

/* Not one whose items have the same hash value. */
static bool has_form_of_node(uint64_t object) {
    if (!can_read(object, NODE_HEADER))
        return false;
    uint64_t maps = mt_snapshot_field(object, NODE_MAPS);
    uint64_t bytes = mt_snapshot_field(object, NODE_BYTES);
    uint32_t items = count_bits((uint32_t)maps), children = count_bits((uint32_t)(maps >> 32));
    uint64_t capacity = (uint32_t)bytes, used = capacity - (bytes >> 32);
    if (capacity == 0 || capacity % CHILD != 0 || bytes >> 32 > capacity ||
        (uint32_t)maps == maps >> 32 || used < children * CHILD)
        return false;
    uint64_t rest = used - children * CHILD;
    return items ? rest >= items && rest % items == 0 : rest == 0;
}

uint64_t mt_snapshot_swift_header(uint64_t object) {
    uint64_t length = table_length(object);
    if (length != 0)
        return length;
    if (has_form_of_array(object))
        return ARRAY_HEADER;
    if (has_form_of_deque(object))
        return DEQUE_HEADER;
    return has_form_of_node(object) ? NODE_HEADER : 0;
}
