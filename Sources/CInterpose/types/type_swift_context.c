/* Contexts of Swift types: modules and what is nested in them. See type_swift.h. */
#include "types/type_swift.h"

/* Offsets in context descriptors. */
enum {
    PARENT = 4,
    NAME = 8,
    CLASS_BOUNDS = 24,
    CLASS_POSITIVE_SIZE = 28,
    CLASS_IMMEDIATE_MEMBERS = 32,
    CLASS_GENERICS = 52, /* after the fixed part and the two words of instantiation */
    VALUE_GENERICS = 36,
    GENERIC_HEADER = 8,
    GENERIC_REQUIREMENTS = 2, /* how many, each of so many bytes */
    GENERIC_REQUIREMENT_SIZE = 12,
    GENERIC_FLAGS = 6,
    /* of packs, behind the requirements: how many, of how many lengths, and each of them */
    PACK_LENGTHS = 2,
    PACKS = 4,
    PACK_SIZE = 8,
    PACK_ARGUMENT = 2,
    PACK_LENGTH = 4
};
#define MT_SWIFT_HAS_PACKS 1u

/* Kind-specific flags of a class descriptor, in its upper 16 bits. */
enum { HAS_NEGATIVE_MEMBERS = 1u << 28, HAS_RESILIENT_SUPERCLASS = 1u << 29 };

/* GenericParamDescriptor. */
enum {
    PARAMETER_KIND = 0x3f,
    TYPE_PARAMETER = 0,
    PACK_PARAMETER = 1,
    VALUE_PARAMETER = 2,
    HAS_ARGUMENT = 0x80
};

enum { MOST_PARAMETERS = 32, MOST_PACKED = 32, MOST_REQUIREMENTS = 256, DEEPEST_NESTING = 16 };

static bool parent_of(struct mt_type_memory *memory, uintptr_t descriptor, uintptr_t *parent) {
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

bool mt_swift_read_context(struct mt_type_memory *memory, uintptr_t descriptor, unsigned nesting,
                           uint32_t *flags, uintptr_t *parent) {
    *parent = 0;
    return nesting <= DEEPEST_NESTING && mt_type_read32(memory, descriptor, flags) &&
           parent_of(memory, descriptor, parent);
}

/* What a class with a superclass of another library adds to its metadata, from the beginning. */
static bool resilient_offset(struct mt_type_memory *memory, uintptr_t descriptor,
                             uint64_t *offset) {
    uintptr_t bounds;
    return mt_type_read_relative(memory, descriptor + CLASS_BOUNDS, &bounds) &&
           mt_type_read64(memory, bounds, offset) && *offset <= 1 << 16;
}

bool mt_swift_class_arguments(struct mt_type_memory *memory, uintptr_t metadata,
                              uintptr_t descriptor, uintptr_t *arguments) {
    uint32_t flags, positive, immediate;
    uint64_t offset;
    if (!mt_type_read32(memory, descriptor, &flags) || (flags & HAS_NEGATIVE_MEMBERS))
        return false;
    if (flags & HAS_RESILIENT_SUPERCLASS) {
        if (!resilient_offset(memory, descriptor, &offset))
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

bool mt_swift_class_members(struct mt_type_memory *memory, uintptr_t metadata, uintptr_t descriptor,
                            uintptr_t *members) {
    uint32_t flags;
    uint64_t offset = 0;
    if (!mt_type_read32(memory, descriptor, &flags))
        return false;
    if ((flags & HAS_RESILIENT_SUPERCLASS) && !resilient_offset(memory, descriptor, &offset))
        return false;
    *members = metadata + offset;
    return true;
}

/* The arguments of a type: the lengths of its packs, then one word for each parameter. */
struct arguments {
    uintptr_t first;
    uintptr_t next; /* how far those of the enclosing types have been written */
    uint32_t parameters;
    uintptr_t packs; /* what its descriptor says of packs; 0 without any */
    bool is_single;  /* there is one parameter */
};

/* Where the generic part of a type's descriptor is; 0 when it has none. */
static uintptr_t generics_of(uintptr_t descriptor, uint32_t flags) {
    uint32_t kind = flags & MT_SWIFT_CONTEXT_KIND;
    if (!(flags & MT_SWIFT_CONTEXT_GENERIC) || kind < MT_SWIFT_CLASS_CONTEXT)
        return 0;
    return descriptor + (kind == MT_SWIFT_CLASS_CONTEXT ? CLASS_GENERICS : VALUE_GENERICS);
}

static bool find_packs(struct mt_type_memory *memory, uintptr_t descriptor,
                       struct arguments *arguments) {
    uint32_t descriptor_flags;
    uint16_t parameters, requirements, flags, lengths;
    if (!mt_type_read32(memory, descriptor, &descriptor_flags))
        return false;
    uintptr_t generics = generics_of(descriptor, descriptor_flags);
    if (!generics)
        return true;
    if (!mt_type_read16(memory, generics, &parameters) || parameters > MOST_PARAMETERS ||
        !mt_type_read16(memory, generics + GENERIC_REQUIREMENTS, &requirements) ||
        !mt_type_read16(memory, generics + GENERIC_FLAGS, &flags))
        return false;
    if (!(flags & MT_SWIFT_HAS_PACKS))
        return true;
    if (requirements > MOST_REQUIREMENTS)
        return false;
    arguments->packs = generics + GENERIC_HEADER + ((parameters + 3u) & ~3u) +
                       (uintptr_t)requirements * GENERIC_REQUIREMENT_SIZE;
    if (!mt_type_read16(memory, arguments->packs + PACK_LENGTHS, &lengths) ||
        lengths > MOST_PARAMETERS)
        return false;
    arguments->next += lengths * sizeof(uint64_t);
    arguments->is_single = parameters == 1;
    return true;
}

/* How many types the pack among the arguments has that lies at an address. */
static bool pack_length(struct mt_type_memory *memory, const struct arguments *arguments,
                        uint64_t *length) {
    uint16_t count, argument, shape;
    if (!arguments->packs || !mt_type_read16(memory, arguments->packs, &count))
        return false;
    for (uint16_t i = 0; i < count && i < MOST_PARAMETERS; i++) {
        uintptr_t pack = arguments->packs + PACKS + (uintptr_t)i * PACK_SIZE;
        if (!mt_type_read16(memory, pack + PACK_ARGUMENT, &argument) ||
            !mt_type_read16(memory, pack + PACK_LENGTH, &shape))
            return false;
        if (arguments->first + argument * sizeof(uint64_t) == arguments->next)
            return mt_type_read64(memory, arguments->first + shape * sizeof(uint64_t), length);
    }
    return false;
}

/* Beside other arguments in braces, as Swift writes them. The lowest bit of its address says that a
 * pack is kept for good. */
static bool add_pack(struct mt_swift_name *name, const struct arguments *arguments,
                     uintptr_t pack) {
    uint64_t length;
    if (!pack_length(name->memory, arguments, &length) || length > MOST_PACKED)
        return false;
    if (!arguments->is_single)
        mt_text_add(name->text, "Pack{");
    for (uint64_t i = 0; i < length; i++) {
        uint64_t type;
        if (i > 0)
            mt_text_add(name->text, ", ");
        if (!mt_type_read64(name->memory, (pack & ~(uintptr_t)1) + i * sizeof type, &type) ||
            !mt_swift_add_type(name, type))
            return false;
    }
    if (!arguments->is_single)
        mt_text_add(name->text, "}");
    return true;
}

static bool add_argument(struct mt_swift_name *name, uint8_t parameter,
                         const struct arguments *arguments) {
    uint64_t argument;
    if (!mt_type_read64(name->memory, arguments->next, &argument))
        return false;
    switch (parameter & PARAMETER_KIND) {
    case TYPE_PARAMETER:
        return mt_swift_add_type(name, argument);
    case PACK_PARAMETER:
        return add_pack(name, arguments, argument);
    case VALUE_PARAMETER:
        mt_text_add_number(name->text, argument);
        return true;
    default:
        return false;
    }
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
        if (!add_argument(name, parameter, arguments))
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
    uintptr_t parent;
    if (!mt_swift_read_context(name->memory, descriptor, nesting, &flags, &parent))
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
    uintptr_t generics = generics_of(descriptor, flags);
    return !generics || !arguments->next || add_arguments(name, generics, arguments);
}

bool mt_swift_add_context(struct mt_swift_name *name, uintptr_t descriptor, uintptr_t arguments) {
    struct arguments state = {.first = arguments, .next = arguments};
    return (!arguments || find_packs(name->memory, descriptor, &state)) &&
           add_nested(name, descriptor, &state, 0);
}
