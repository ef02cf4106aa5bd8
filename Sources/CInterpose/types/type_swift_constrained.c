/* Names of existential types whose protocols have arguments: any P<Int>. See type_swift.h.
 *
 *   metadata      +8 shape  +16 arguments
 *   shape         +0 flags  +10 how many requirements (u16)  +16 how many arguments (u16)
 *                 +24 requirements, one behind the other
 *   requirement   +0 what it is  +4 mangled type  +8 a protocol, or a mangled type
 *
 * Types that have the same shape differ in their arguments only. Of these a requirement says which
 * associated type each is the same as.
 *
 * Source: include/swift/ABI/Metadata.h and MetadataValues.h of the Swift repository. */
#include "types/type_swift.h"

enum { SHAPE = 8, ARGUMENTS = 16 };
enum { REQUIREMENT_COUNT = 10, ARGUMENT_COUNT = 16, REQUIREMENTS = 24 };
enum { REQUIREMENT_SIZE = 12, SUBJECT = 4, DEMAND = 8 };
enum { MOST_REQUIREMENTS = 16, MOST_ARGUMENTS = 8, LONGEST_MANGLED = 64 };

/* ExtendedExistentialTypeShapeFlags: a signature of the arguments, all parameters of both
 * signatures plain types; and what says that there is something else in front of the requirements.
 */
enum { KIND = 0xff, OF_CLASSES = 1, PLAIN = 0x1900, OTHERS = 0x2600 };

/* GenericRequirementFlags. */
enum { REQUIREMENT_KIND = 0x1f, PROTOCOL = 0, SAME_TYPE = 1, INVERTED = 5, LAYOUT = 0x1f };

struct shape {
    struct mt_type_memory *memory;
    uintptr_t requirements;
    uint16_t requirement_count;
    uintptr_t arguments;
    uint16_t argument_count;
};

static uintptr_t requirement_at(const struct shape *shape, uint32_t number) {
    return shape->requirements + (uintptr_t)number * REQUIREMENT_SIZE;
}

static bool has_kind(const struct shape *shape, uint32_t number, uint32_t kind) {
    uint32_t flags;
    return mt_type_read32(shape->memory, requirement_at(shape, number), &flags) &&
           (flags & REQUIREMENT_KIND) == kind;
}

/* A superclass, for example, is not known here. */
static bool is_known(const struct shape *shape) {
    uint32_t protocols = 0;
    for (uint32_t i = 0; i < shape->requirement_count; i++) {
        bool is_protocol = has_kind(shape, i, PROTOCOL);
        if (!is_protocol && !has_kind(shape, i, SAME_TYPE) && !has_kind(shape, i, INVERTED) &&
            !has_kind(shape, i, LAYOUT))
            return false;
        protocols += is_protocol;
    }
    return protocols > 0;
}

static bool read_shape(struct mt_type_memory *memory, uintptr_t metadata, struct shape *shape) {
    uint64_t address;
    uint32_t flags;
    if (!mt_type_read64(memory, metadata + SHAPE, &address) ||
        !mt_type_read32(memory, address, &flags) || (flags & KIND) > OF_CLASSES ||
        (flags & (PLAIN | OTHERS)) != PLAIN ||
        !mt_type_read16(memory, address + REQUIREMENT_COUNT, &shape->requirement_count) ||
        !mt_type_read16(memory, address + ARGUMENT_COUNT, &shape->argument_count) ||
        shape->requirement_count > MOST_REQUIREMENTS || shape->argument_count > MOST_ARGUMENTS)
        return false;
    shape->memory = memory;
    shape->requirements = address + REQUIREMENTS;
    shape->arguments = metadata + ARGUMENTS;
    return is_known(shape);
}

/* The protocol that a requirement demands; bit 0 of the distance: its address is there. */
static uintptr_t protocol_of(const struct shape *shape, uint32_t number) {
    uintptr_t place;
    uint64_t indirect;
    if (!has_kind(shape, number, PROTOCOL) ||
        !mt_type_read_relative(shape->memory, requirement_at(shape, number) + DEMAND, &place))
        return 0;
    if (!(place & 1))
        return place & ~(uintptr_t)3;
    return mt_type_read64(shape->memory, place & ~(uintptr_t)3, &indirect) ? indirect : 0;
}

/* Which argument is the same as an associated type: "x" is the first one, then come "q_", "q0_".
 * returns  its number; MOST_ARGUMENTS where that is not known */
static uint32_t argument_of(const struct shape *shape, uint32_t number) {
    uintptr_t name;
    char text[4];
    if (!has_kind(shape, number, SAME_TYPE) ||
        !mt_type_read_relative(shape->memory, requirement_at(shape, number) + SUBJECT, &name) ||
        mt_type_read_string(shape->memory, name, text, sizeof text) <= 0)
        return MOST_ARGUMENTS;
    if (text[0] == 'x' && !text[1])
        return 0;
    if (text[0] == 'q' && text[1] == '_')
        return 1;
    bool has_number = text[0] == 'q' && text[1] >= '0' && text[1] <= '5' && text[2] == '_';
    return has_number ? (uint32_t)(text[1] - '0') + 2 : MOST_ARGUMENTS;
}

/* The protocol that an associated type is one of, which its mangled name refers to; 0 where it does
 * not, as of Swift's own. */
static uintptr_t protocol_of_associated(const struct shape *shape, uint32_t number) {
    uintptr_t name, protocol;
    if (!mt_type_read_relative(shape->memory, requirement_at(shape, number) + DEMAND, &name))
        return 0;
    for (uintptr_t at = name; at - name < LONGEST_MANGLED; at++) {
        uint8_t byte;
        if (!mt_type_read8(shape->memory, at, &byte) || byte == 0)
            return 0;
        if (byte < ' ')
            return mt_swift_find_reference(shape->memory, byte, at + 1, &protocol) ? protocol : 0;
    }
    return 0;
}

/* The requirement for the protocol to which an argument is written: the one that has the associated
 * type, or the first one, which inherits it. */
static uint32_t owner_of(const struct shape *shape, uint32_t number) {
    uintptr_t protocol = protocol_of_associated(shape, number);
    uint32_t first = MOST_REQUIREMENTS;
    for (uint32_t i = 0; i < shape->requirement_count; i++) {
        uintptr_t own = protocol_of(shape, i);
        if (own != 0 && own == protocol)
            return i;
        if (own != 0 && first == MOST_REQUIREMENTS)
            first = i;
    }
    return first;
}

static bool is_argument(const struct shape *shape, uint32_t argument, uint32_t owner) {
    for (uint32_t i = 0; i < shape->requirement_count; i++)
        if (argument_of(shape, i) == argument && owner_of(shape, i) == owner)
            return true;
    return false;
}

/* Those of one protocol; nothing where it has none. */
static bool add_arguments(struct mt_swift_name *name, const struct shape *shape, uint32_t owner) {
    bool has_any = false;
    for (uint32_t i = 0; i < shape->argument_count; i++) {
        uint64_t type;
        if (!is_argument(shape, i, owner))
            continue;
        mt_text_add(name->text, has_any ? ", " : "<");
        has_any = true;
        if (!mt_type_read64(shape->memory, shape->arguments + i * sizeof type, &type) ||
            !mt_swift_add_type(name, type))
            return false;
    }
    if (has_any)
        mt_text_add(name->text, ">");
    return true;
}

static bool add_protocols(struct mt_swift_name *name, const struct shape *shape) {
    bool has_any = false;
    for (uint32_t i = 0; i < shape->requirement_count; i++) {
        if (!has_kind(shape, i, PROTOCOL))
            continue;
        if (has_any)
            mt_text_add(name->text, " & ");
        has_any = true;
        if (!mt_swift_add_context(name, protocol_of(shape, i), 0) || !add_arguments(name, shape, i))
            return false;
    }
    return true;
}

bool mt_swift_add_constrained(struct mt_swift_name *name, uintptr_t metadata) {
    struct shape shape;
    if (read_shape(name->memory, metadata, &shape))
        return add_protocols(name, &shape);
    mt_text_add(name->text, "_");
    return true;
}
