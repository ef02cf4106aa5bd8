/* Classes of Embedded Swift, which have no names in memory. See type_reader.h.
 *
 *   word -> metadata: [0] that of the superclass or 0, [1] deallocating deinit, [2] destroyer of
 * the stored properties or 0, then the methods
 *
 * Whether it is one, its symbol tells the reader of the trace, as for C++ classes without RTTI.
 * Source: ClassMetadataVisitor.h in lib/IRGen of the Swift repository. */
#include "loader/image_map.h"
#include "types/type_reader.h"

enum { WORD = sizeof(uint64_t) };

bool mt_type_read_embedded(struct mt_type_memory *memory, const struct mt_type_block *block,
                           struct mt_type_description *description) {
    uint64_t superclass, deinit, destroyer;
    if (!mt_type_read64(memory, block->word, &superclass) ||
        !mt_type_read64(memory, block->word + WORD, &deinit) ||
        !mt_type_read64(memory, block->word + 2 * WORD, &destroyer))
        return false;
    if (superclass != 0 && !mt_image_map_contains(superclass))
        return false;
    /* A freed block may begin with the address of a list of the C library's, which points to
     * itself. */
    if (destroyer != 0 && !mt_image_map_contains_code(destroyer))
        return false;
    if (!mt_image_map_contains_code(deinit))
        return false;
    description->kind = MT_TYPE_CXX_VTABLE;
    description->definition = block->word;
    description->instance_size = 0;
    return true;
}
