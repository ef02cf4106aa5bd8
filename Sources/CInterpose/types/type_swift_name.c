/* Names of Swift types, from their metadata. See type_swift.h. */
#include "types/type_swift.h"

/* Offsets in metadata. */
enum {
    CLASS_DESCRIPTOR = 40,
    DESCRIPTOR = 8, /* of structs, enums and foreign classes */
    VALUE_ARGUMENTS = 16,
    TUPLE_COUNT = 8,
    TUPLE_LABELS = 16, /* "name  owner ": a space behind each, the second is empty */
    TUPLE_ELEMENTS = 24,
    FUNCTION_FLAGS = 8,
    FUNCTION_RESULT = 16,
    FUNCTION_PARAMETERS = 24,
    EXISTENTIAL_FLAGS = 8,
    EXISTENTIAL_PROTOCOLS = 12,
    EXISTENTIAL_REFERENCES = 16,
    INSTANCE_TYPE = 8
};

enum { MOST_ELEMENTS = 32 };
/* ExistentialTypeFlags. */
enum { HAS_SUPERCLASS = 1u << 30, IS_ANY_TYPE = 1u << 31 };
/* ProtocolContextDescriptorFlags. */
enum { CONFORMS_ANY_TYPE = 1u << 16 };

static bool add_nominal(struct mt_swift_name *name, uintptr_t metadata, uintptr_t arguments) {
    uint64_t descriptor;
    return mt_type_read64(name->memory, metadata + DESCRIPTOR, &descriptor) &&
           mt_swift_add_context(name, descriptor, arguments);
}

static bool add_class(struct mt_swift_name *name, uintptr_t metadata) {
    uint64_t descriptor;
    uintptr_t arguments = 0;
    uint32_t flags;
    if (!mt_type_read64(name->memory, metadata + CLASS_DESCRIPTOR, &descriptor) ||
        !mt_type_read32(name->memory, descriptor, &flags))
        return false;
    if ((flags & MT_SWIFT_CONTEXT_GENERIC) &&
        !mt_swift_class_arguments(name->memory, metadata, descriptor, &arguments))
        return false;
    return mt_swift_add_context(name, descriptor, arguments);
}

/* Adds the label at a place and a colon; nothing for an element that has none.
 * returns  where the next label is; 0 where there is none */
static uintptr_t add_label(struct mt_swift_name *name, uintptr_t place) {
    uintptr_t end = place;
    uint8_t byte = 0;
    while (end && !name->text->cut && mt_type_read8(name->memory, end, &byte) && byte &&
           byte != ' ') {
        mt_text_add_bytes(name->text, (const char *)&byte, 1);
        end++;
    }
    if (end > place)
        mt_text_add(name->text, ": ");
    return byte == ' ' ? end + 1 : 0;
}

/* Types one after another: `count` pointers, `stride` bytes apart; with labels, or 0. */
static bool add_list(struct mt_swift_name *name, uintptr_t first, uint64_t count, size_t stride,
                     uintptr_t labels) {
    if (count > MOST_ELEMENTS)
        return false;
    mt_text_add(name->text, "(");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t type;
        if (i > 0)
            mt_text_add(name->text, ", ");
        labels = add_label(name, labels);
        if (!mt_type_read64(name->memory, first + i * stride, &type) ||
            !mt_swift_add_type(name, type))
            return false;
    }
    mt_text_add(name->text, ")");
    return true;
}

static bool add_tuple(struct mt_swift_name *name, uintptr_t metadata) {
    uint64_t count, labels;
    return mt_type_read64(name->memory, metadata + TUPLE_COUNT, &count) &&
           mt_type_read64(name->memory, metadata + TUPLE_LABELS, &labels) &&
           add_list(name, metadata + TUPLE_ELEMENTS, count, 2 * sizeof(uint64_t), labels);
}

static bool add_function(struct mt_swift_name *name, uintptr_t metadata) {
    uint64_t flags, result;
    if (!mt_type_read64(name->memory, metadata + FUNCTION_FLAGS, &flags) ||
        !mt_type_read64(name->memory, metadata + FUNCTION_RESULT, &result) ||
        !add_list(name, metadata + FUNCTION_PARAMETERS, flags & 0xffff, sizeof(uint64_t), 0))
        return false;
    mt_text_add(name->text, " -> ");
    return mt_swift_add_type(name, result);
}

/* The superclass that an existential type demands of its values, which stands in front. */
static bool add_superclass(struct mt_swift_name *name, uintptr_t place) {
    uint64_t superclass;
    if (!mt_type_read64(name->memory, place, &superclass) || !mt_swift_add_type(name, superclass))
        return false;
    mt_text_add(name->text, " & ");
    return true;
}

static bool add_existential(struct mt_swift_name *name, uintptr_t metadata) {
    uint32_t flags, count;
    uintptr_t references = metadata + EXISTENTIAL_REFERENCES;
    bool says_class = false; /* that the values are objects */
    if (!mt_type_read32(name->memory, metadata + EXISTENTIAL_FLAGS, &flags) ||
        !mt_type_read32(name->memory, metadata + EXISTENTIAL_PROTOCOLS, &count) ||
        count > MOST_ELEMENTS)
        return false;
    if (count == 0)
        mt_text_add(name->text, flags & IS_ANY_TYPE ? "Any" : "Swift.AnyObject");
    if ((flags & HAS_SUPERCLASS) && count > 0) {
        if (!add_superclass(name, references))
            return false;
        references += sizeof(uint64_t);
        says_class = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t protocol;
        uint32_t own;
        if (i > 0)
            mt_text_add(name->text, " & ");
        if (!mt_type_read64(name->memory, references + i * sizeof(uint64_t), &protocol) ||
            !mt_type_read32(name->memory, protocol & ~(uint64_t)1, &own) ||
            !mt_swift_add_context(name, protocol & ~(uint64_t)1, 0))
            return false;
        if (!(own & CONFORMS_ANY_TYPE))
            says_class = true;
    }
    if (count > 0 && !(flags & IS_ANY_TYPE) && !says_class)
        mt_text_add(name->text, " & Swift.AnyObject");
    return true;
}

static bool add_metatype(struct mt_swift_name *name, uintptr_t metadata) {
    uint64_t instance;
    if (!mt_type_read64(name->memory, metadata + INSTANCE_TYPE, &instance) ||
        !mt_swift_add_type(name, instance))
        return false;
    mt_text_add(name->text, ".Type");
    return true;
}

static bool add_kind(struct mt_swift_name *name, uintptr_t metadata, uint64_t kind) {
    switch (kind) {
    case MT_SWIFT_CLASS:
        return add_class(name, metadata);
    case MT_SWIFT_STRUCT:
    case MT_SWIFT_ENUM:
    case MT_SWIFT_OPTIONAL:
        return add_nominal(name, metadata, metadata + VALUE_ARGUMENTS);
    case MT_SWIFT_FOREIGN_CLASS:
    case MT_SWIFT_FOREIGN_REFERENCE:
        return add_nominal(name, metadata, 0);
    case MT_SWIFT_TUPLE:
        return add_tuple(name, metadata);
    case MT_SWIFT_FUNCTION:
        return add_function(name, metadata);
    case MT_SWIFT_EXISTENTIAL:
        return add_existential(name, metadata);
    case MT_SWIFT_CONSTRAINED_EXISTENTIAL:
        return mt_swift_add_constrained(name, metadata);
    case MT_SWIFT_METATYPE:
    case MT_SWIFT_EXISTENTIAL_METATYPE:
        return add_metatype(name, metadata);
    default:
        mt_text_add(name->text, "_"); /* a builtin: no name of its own */
        return true;
    }
}

bool mt_swift_add_type(struct mt_swift_name *name, uintptr_t metadata) {
    uint64_t kind;
    if (name->depth >= MT_SWIFT_DEEPEST || !mt_type_read64(name->memory, metadata, &kind))
        return false;
    name->depth++;
    bool is_added = add_kind(name, metadata, kind);
    name->depth--;
    return is_added && !name->text->cut;
}
