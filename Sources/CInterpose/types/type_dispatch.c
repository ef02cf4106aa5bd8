/* Objects of libdispatch: queues, sources, groups, semaphores, data. See type_reader.h.
 *
 *   word -> [0], [1] functions that dispose of an object, [2] numbers of its type, [3] what it is
 *           called ("serial queue"), then functions that not every class has
 *
 * That the word is a table of libdispatch, its symbol tells the reader of the trace.
 * Source: https://github.com/swiftlang/swift-corelibs-libdispatch, src/object_internal.h. */
#include "loader/image_map.h"
#include "types/type_reader.h"

enum { WORD = sizeof(uint64_t), LONGEST_KIND = 32, SMALLEST_OBJECT = 4 * WORD };

static bool is_kind(struct mt_type_memory *memory, uint64_t address) {
    char text[LONGEST_KIND];
    long length = mt_type_read_string(memory, address, text, sizeof text);
    for (long i = 0; i < length; i++) {
        if (text[i] < ' ' || text[i] > '~')
            return false;
    }
    return length > 0;
}

bool mt_type_read_dispatch(struct mt_type_memory *memory, const struct mt_type_block *block,
                           struct mt_type_description *description) {
    uint64_t release, dispose, type, kind;
    uintptr_t table = block->word;
    if (block->size < SMALLEST_OBJECT || !mt_type_read64(memory, table, &release) ||
        !mt_image_map_contains_code(release) || !mt_type_read64(memory, table + WORD, &dispose) ||
        !mt_image_map_contains_code(dispose) || !mt_type_read64(memory, table + 2 * WORD, &type) ||
        type > UINT32_MAX || !mt_type_read64(memory, table + 3 * WORD, &kind) ||
        !is_kind(memory, kind))
        return false;
    description->kind = MT_TYPE_CXX_VTABLE;
    description->definition = table;
    description->instance_size = 0;
    return true;
}
