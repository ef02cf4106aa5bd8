/* What Swift's heap objects are. See type_reader.h. */
#include "types/type_swift.h"
#include "loader/image_map.h"
#include "types/type_reader.h"

enum { WORD = sizeof(uint64_t) };

/* Offsets in metadata; before it lie the destroying function and the table of value witnesses. */
enum {
    DESTROY = -2 * WORD,
    WITNESSES = -WORD,
    CLASS_SUPERCLASS = 8,
    CLASS_INSTANCE_SIZE = 24,
    CLASS_ALIGNMENT_MASK = 28,
    CLASS_DESCRIPTOR = 40,
    BOX_CONTENT = 16,
    CAPTURE_DESCRIPTOR = 16
};

/* Offsets in the descriptor of a class. */
enum { FIELD_COUNT = 36, FIELD_VECTOR = 40 };

/* The head of every heap object's header in a Swift object. */
enum { SMALLEST_OBJECT = 16 };

static bool points_into_image(struct mt_type_memory *memory, uintptr_t address) {
    uint64_t target;
    return mt_type_read64(memory, address, &target) && mt_image_map_contains(target);
}

/* Only classes have value witnesses, not boxes, contexts of closures and tasks. */
static bool is_heap_metadata(struct mt_type_memory *memory, uintptr_t metadata, uint64_t kind) {
    return points_into_image(memory, metadata + DESTROY) &&
           (kind != MT_SWIFT_CLASS || points_into_image(memory, metadata + WITNESSES));
}

/* Files tell it, too, but not of generic classes, and of others not where a superclass or a
 * property has a size that another library decides: the runtime computes it then. */
static void find_fields(struct mt_type_memory *memory, uintptr_t metadata, uintptr_t descriptor,
                        struct mt_type_description *description) {
    uint32_t count, vector;
    uintptr_t members;
    if (!mt_type_read32(memory, descriptor + FIELD_COUNT, &count) ||
        !mt_type_read32(memory, descriptor + FIELD_VECTOR, &vector) ||
        !mt_swift_class_members(memory, metadata, descriptor, &members))
        return;
    description->fields = members + (uintptr_t)vector * WORD;
    description->field_count = count;
}

static bool read_class(struct mt_type_memory *memory, uintptr_t metadata,
                       const struct mt_type_block *block, struct mt_type_description *description) {
    uint64_t descriptor;
    uint32_t flags, size;
    uint16_t alignment;
    struct mt_swift_name name = {memory, &description->name, 0};
    if (!mt_type_read64(memory, metadata + CLASS_DESCRIPTOR, &descriptor) ||
        !mt_type_read32(memory, descriptor, &flags) ||
        (flags & MT_SWIFT_CONTEXT_KIND) != MT_SWIFT_CLASS_CONTEXT ||
        !mt_type_read32(memory, metadata + CLASS_INSTANCE_SIZE, &size) ||
        !mt_type_read16(memory, metadata + CLASS_ALIGNMENT_MASK, &alignment) ||
        (alignment & (alignment + 1)))
        return false;
    description->is_undecided = size < SMALLEST_OBJECT || size > block->size;
    if (description->is_undecided)
        return false;
    description->kind = MT_TYPE_SWIFT_CLASS;
    description->definition = descriptor;
    description->instance_size = size;
    find_fields(memory, metadata, descriptor, description);
    return mt_swift_add_type(&name, metadata);
}

static bool read_box(struct mt_type_memory *memory, uintptr_t content, enum mt_type_kind kind,
                     struct mt_type_description *description) {
    struct mt_swift_name name = {memory, &description->name, 0};
    description->kind = kind;
    description->definition = content;
    return content != 0 && mt_swift_add_type(&name, content);
}

static bool read_captures(struct mt_type_memory *memory, uintptr_t metadata,
                          struct mt_type_description *description) {
    uint64_t captures;
    struct mt_swift_name name = {memory, &description->name, 0};
    description->kind = MT_TYPE_SWIFT_CAPTURES;
    if (!mt_type_read64(memory, metadata + CAPTURE_DESCRIPTOR, &captures))
        return false;
    if (captures == 0)
        return true; /* built without reflection: a closure context all the same */
    description->definition = captures;
    return mt_swift_add_captures(&name, captures);
}

uintptr_t mt_type_swift_superclass(struct mt_type_memory *memory, uintptr_t metadata) {
    uint64_t superclass;
    return mt_type_read64(memory, metadata + CLASS_SUPERCLASS, &superclass) ? superclass : 0;
}

bool mt_type_read_swift(struct mt_type_memory *memory, const struct mt_type_block *block,
                        struct mt_type_description *description) {
    uintptr_t metadata = block->word;
    uint64_t kind, content;
    description->is_undecided = false;
    if (!mt_type_read64(memory, metadata, &kind) || !is_heap_metadata(memory, metadata, kind))
        return false;
    if (block->size < SMALLEST_OBJECT) {
        description->is_undecided = true;
        return false;
    }
    description->definition = metadata; /* unless something below tells more */
    description->instance_size = 0;
    switch (kind) {
    case MT_SWIFT_CLASS:
        return read_class(memory, metadata, block, description);
    case MT_SWIFT_CAPTURES:
        return read_captures(memory, metadata, description);
    case MT_SWIFT_BOX:
        return mt_type_read64(memory, metadata + BOX_CONTENT, &content) &&
               read_box(memory, content, MT_TYPE_SWIFT_BOX, description);
    case MT_SWIFT_ERROR:
        return read_box(memory, block->content, MT_TYPE_SWIFT_ERROR, description);
    case MT_SWIFT_TASK:
        description->kind = MT_TYPE_SWIFT_TASK;
        return true;
    case MT_SWIFT_JOB:
        description->kind = MT_TYPE_SWIFT_JOB;
        return true;
    default:
        return false;
    }
}
