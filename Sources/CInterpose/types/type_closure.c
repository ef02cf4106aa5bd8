/* Closures of C ("blocks": clang -fblocks, libdispatch) that were copied to the heap. See
 * type_reader.h.
 *
 *   word -> _NSConcreteMallocBlock, 32 words of the runtime that stay 0
 *   block: [0] that word, [1] flags, [2] function to call, [3] descriptor, then what it captures
 *
 * That the word is this symbol, its name tells the reader of the trace.
 * Source: https://clang.llvm.org/docs/Block-ABI-Apple.html. */
#include "loader/image_map.h"
#include "types/type_reader.h"

enum { WORD = sizeof(uint64_t), CLASS_WORDS = 32, SMALLEST_BLOCK = 4 * WORD };

bool mt_type_read_closure(struct mt_type_memory *memory, const struct mt_type_block *block,
                          struct mt_type_description *description) {
    if (block->size < SMALLEST_BLOCK || !mt_image_map_contains_code(block->content))
        return false;
    for (unsigned i = 0; i < CLASS_WORDS; i++) {
        uint64_t word;
        if (!mt_type_read64(memory, block->word + i * WORD, &word) || word != 0)
            return false;
    }
    description->kind = MT_TYPE_CXX_VTABLE;
    description->definition = block->word;
    description->instance_size = 0;
    return true;
}
