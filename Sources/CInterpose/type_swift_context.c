/* Contexts of Swift types: modules and what is nested in them. See type_swift.h. */
#include "type_swift.h"

/* Offsets in context descriptors. */
enum {
    PARENT = 4,
    NAME = 8,
    CLASS_BOUNDS = 24,
    CLASS_POSITIVE_SIZE = 28,
    CLASS_IMMEDIATE_MEMBERS = 32,
    CLASS_GENERICS = 52, /* after the fixed part and the two words of instantiation */
    VALUE_GENERICS = 36,
    GENERIC_HEADER = 8
};

/* Kind-specific flags of a class descriptor, in its upper 16 bits. */
enum { HAS_NEGATIVE_MEMBERS = 1u << 28, HAS_RESILIENT_SUPERCLASS = 1u << 29 };

/* GenericParamDescriptor. */
enum { PARAMETER_KIND = 0x3f, TYPE_PARAMETER = 0, VALUE_PARAMETER = 2, HAS_ARGUMENT = 0x80 };

enum { MOST_PARAMETERS = 32, DEEPEST_NESTING = 16 };

bool mt_swift_parent(struct mt_type_memory *memory, uintptr_t descriptor, uintptr_t *parent) {
    uint64_t indirect;
    if (!mt_type_read_relative(memory, descriptor + PARENT, parent))
        return false;
    if (!(*parent & 1))
        return true;
    if (!mt_type_read64(memory, *parent & ~(uintptr_t)1, &indirect))
        return false;
    *parent = indirect;
    return true;
}

bool mt_swift_class_arguments(struct mt_type_memory *memory, uintptr_t metadata,
                              uintptr_t descriptor, uintptr_t *arguments) {
    uint32_t flags, positive, immediate;
    uintptr_t bounds;
    uint64_t offset;
    if (!mt_type_read32(memory, descriptor, &flags) || (flags & HAS_NEGATIVE_MEMBERS))
        return false;
    if (flags & HAS_RESILIENT_SUPERCLASS) {
        if (!mt_type_read_relative(memory, descriptor + CLASS_BOUNDS, &bounds) ||
            !mt_type_read64(memory, bounds, &offset) || offset > 1 << 16)
            return false;
        *arguments = metadata + offset;
        return true;
    }
    if (!mt_type_read32(memory, descriptor + CLASS_POSITIVE_SIZE, &positive) ||
        !mt_type_read32(memory, descriptor + CLASS_IMMEDIATE_MEMBERS, &immediate) ||
        immediate > positive)
        return false;
    *arguments = metadata + (uintptr_t)(positive - immediate) * sizeof(uint64_t);
    return true;
}

/* How far the arguments of the enclosing types have been written. */
struct arguments {
    uintptr_t next;
    uint32_t parameters;
};

static bool add_argument(struct mt_swift_name *name, uint8_t parameter, uintptr_t address) {
    uint64_t argument;
    if (!mt_type_read64(name->memory, address, &argument))
        return false;
    if ((parameter & PARAMETER_KIND) == TYPE_PARAMETER)
        return mt_swift_add_type(name, argument);
    if ((parameter & PARAMETER_KIND) != VALUE_PARAMETER)
        return false; /* a pack of types: its length is elsewhere */
    mt_text_add_number(name->text, argument);
    return true;
}

/* A descriptor counts the parameters of its parents as well. */
static bool add_arguments(struct mt_swift_name *name, uintptr_t generics,
                          struct arguments *arguments) {
    uint16_t count;
    const char *separator = "<";
    if (!mt_type_read16(name->memory, generics, &count) || count > MOST_PARAMETERS)
        return false;
    for (; arguments->parameters < count; arguments->parameters++) {
        uint8_t parameter;
        uintptr_t at = generics + GENERIC_HEADER + arguments->parameters;
        if (!mt_type_read8(name->memory, at, &parameter))
            return false;
        if (!(parameter & HAS_ARGUMENT))
            continue; /* the same as another one, by a requirement */
        mt_text_add(name->text, separator);
        if (!add_argument(name, parameter, arguments->next))
            return false;
        arguments->next += sizeof(uint64_t);
        separator = ", ";
    }
    if (separator[0] == ',')
        mt_text_add(name->text, ">");
    return true;
}

long mt_swift_own_name(struct mt_type_memory *memory, uintptr_t descriptor,
                       char into[MT_SWIFT_LONGEST_NAME]) {
    uintptr_t address;
    if (!mt_type_read_relative(memory, descriptor + NAME, &address))
        return 0;
    return mt_type_read_string(memory, address, into, MT_SWIFT_LONGEST_NAME);
}

static bool add_own_name(struct mt_swift_name *name, uintptr_t descriptor) {
    char own[MT_SWIFT_LONGEST_NAME];
    long length = mt_swift_own_name(name->memory, descriptor, own);
    if (length <= 0)
        return false;
    mt_text_add_bytes(name->text, own, (size_t)length);
    return true;
}

/* Modules and types have names; extensions and anonymous contexts stand for their parents. */
static bool has_name(uint32_t kind) {
    return kind == MT_SWIFT_MODULE || kind == MT_SWIFT_PROTOCOL || kind >= MT_SWIFT_CLASS_CONTEXT;
}

static bool add_nested(struct mt_swift_name *name, uintptr_t descriptor,
                       struct arguments *arguments, unsigned nesting) {
    uint32_t flags;
    uintptr_t parent = 0;
    if (nesting > DEEPEST_NESTING || !mt_type_read32(name->memory, descriptor, &flags) ||
        !mt_swift_parent(name->memory, descriptor, &parent))
        return false;
    uint32_t kind = flags & MT_SWIFT_CONTEXT_KIND;
    if (kind == MT_SWIFT_MODULE)
        return add_own_name(name, descriptor);
    if (!parent || !add_nested(name, parent, arguments, nesting + 1))
        return false;
    if (!has_name(kind))
        return true;
    mt_text_add(name->text, ".");
    if (!add_own_name(name, descriptor))
        return false;
    if (!(flags & MT_SWIFT_CONTEXT_GENERIC) || !arguments->next || kind == MT_SWIFT_PROTOCOL)
        return true;
    uintptr_t generics = kind == MT_SWIFT_CLASS_CONTEXT ? CLASS_GENERICS : VALUE_GENERICS;
    return add_arguments(name, descriptor + generics, arguments);
}

bool mt_swift_add_context(struct mt_swift_name *name, uintptr_t descriptor, uintptr_t arguments) {
    struct arguments state = {arguments, 0};
    return add_nested(name, descriptor, &state, 0);
}
