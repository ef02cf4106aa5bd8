/* What a block's first word says about its type: C++ (type_cxx.c), Swift (type_swift.c),
 * Embedded Swift (type_embedded.c), closures of C (type_closure.c), libdispatch (type_dispatch.c).
 *
 * No call into any runtime, no symbol table: only data that every image carries, so that stripped
 * and statically linked programs are read as well. */
#ifndef MT_TYPE_READER_H
#define MT_TYPE_READER_H

#include "base/text.h"
#include "memtrace_format.h"
#include "types/type_memory.h"

/* What is looked at. */
struct mt_type_block {
    uint64_t word; /* the first word of the block */
    /* The third: the type that an error box holds, what a closure calls; 0 in a shorter block. */
    uint64_t content;
    uint64_t size; /* requested bytes */
};

/* What was found. */
struct mt_type_description {
    enum mt_type_kind kind;
    uintptr_t definition;
    uint64_t instance_size;
    struct mt_text name; /* in the caller's buffer */
    /* Where a Swift class has the offsets of its stored properties, each a word. */
    uintptr_t fields;
    uint32_t field_count;
    /* No object of this class, but another block may be one: the address of a class stands in other
     * blocks as well, those of the runtime, and before the class is laid out. */
    bool is_undecided;
};

/* Each fills everything but the buffer of `name`.
 * returns  false when the word is no such type's
 * context  under the lock of type_registry.c; nothing is allocated or called */
bool mt_type_read_cxx(struct mt_type_memory *memory, const struct mt_type_block *block,
                      struct mt_type_description *description);
bool mt_type_read_swift(struct mt_type_memory *memory, const struct mt_type_block *block,
                        struct mt_type_description *description);
bool mt_type_read_embedded(struct mt_type_memory *memory, const struct mt_type_block *block,
                           struct mt_type_description *description);
bool mt_type_read_closure(struct mt_type_memory *memory, const struct mt_type_block *block,
                          struct mt_type_description *description);
bool mt_type_read_dispatch(struct mt_type_memory *memory, const struct mt_type_block *block,
                           struct mt_type_description *description);

/* The metadata of the superclass of a Swift class; 0 without one. */
uintptr_t mt_type_swift_superclass(struct mt_type_memory *memory, uintptr_t metadata);

/* The C++ class of a type_info, which may be a base. */
bool mt_type_read_type_info(struct mt_type_memory *memory, uintptr_t type_info,
                            struct mt_type_description *description);
/* The type_info of the first base class at the beginning of an object; 0 when there is none. */
uintptr_t mt_type_cxx_base(struct mt_type_memory *memory, uintptr_t type_info);

#endif
