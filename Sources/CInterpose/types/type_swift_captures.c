/* What closures capture, as mangled names. See type_swift.h.
 *
 * The compiler leaves a mangled name for each captured value in which types of the image are
 * symbolic references: a control character and the distance to a descriptor. They are written out
 * here, so that the names can be demangled without the image. */
#include "types/type_swift.h"

enum {
    FIRST_TYPE = 12,
    MOST_REFERENCES = 16,
    MOST_CAPTURES = 32,
    LONGEST_MANGLED = 256,
    DEEPEST_NESTING = 16
};
enum { LAST_RELATIVE_REFERENCE = 0x17, LAST_REFERENCE = 0x1f };
enum { DIRECT_CONTEXT = 1, INDIRECT_CONTEXT = 2 };

static const char *suffix_of(uint32_t kind) {
    switch (kind) {
    case MT_SWIFT_PROTOCOL:
        return "P";
    case MT_SWIFT_CLASS_CONTEXT:
        return "C";
    case MT_SWIFT_STRUCT_CONTEXT:
        return "V";
    case MT_SWIFT_ENUM_CONTEXT:
        return "O";
    default:
        return "";
    }
}

/* "4main" or a standard abbreviation; then "4BaseC" for a type. */
static bool add_identifier(struct mt_swift_name *name, uintptr_t descriptor, uint32_t kind) {
    char own[MT_SWIFT_LONGEST_NAME];
    long length = mt_swift_own_name(name->memory, descriptor, own);
    if (length <= 0)
        return false;
    if (kind == MT_SWIFT_MODULE && mt_text_equal(own, "Swift")) {
        mt_text_add(name->text, "s");
        return true;
    }
    if (kind == MT_SWIFT_MODULE && mt_text_equal(own, "__C")) {
        mt_text_add(name->text, "So");
        return true;
    }
    mt_text_add_number(name->text, (uint64_t)length);
    mt_text_add_bytes(name->text, own, (size_t)length);
    mt_text_add(name->text, suffix_of(kind));
    return true;
}

static bool add_mangled_context(struct mt_swift_name *name, uintptr_t descriptor,
                                unsigned nesting) {
    uint32_t flags;
    uintptr_t parent = 0;
    if (nesting > DEEPEST_NESTING || !mt_type_read32(name->memory, descriptor, &flags) ||
        !mt_swift_parent(name->memory, descriptor, &parent))
        return false;
    uint32_t kind = flags & MT_SWIFT_CONTEXT_KIND;
    if (parent && !add_mangled_context(name, parent, nesting + 1))
        return false;
    if (kind != MT_SWIFT_MODULE && suffix_of(kind)[0] == 0)
        return kind == MT_SWIFT_EXTENSION || kind == MT_SWIFT_ANONYMOUS;
    return add_identifier(name, descriptor, kind);
}

/* control is followed by the distance to a descriptor, or to where its address is. */
static bool find_reference(struct mt_type_memory *memory, uint8_t control, uintptr_t at,
                           uintptr_t *descriptor) {
    uint8_t bytes[4];
    for (unsigned i = 0; i < 4; i++) /* not aligned in mangled names */
        if (!mt_type_read8(memory, at + i, &bytes[i]))
            return false;
    int32_t distance = (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
                                 (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24);
    *descriptor = at + (uintptr_t)(intptr_t)distance;
    if (control == DIRECT_CONTEXT)
        return true;
    uint64_t indirect;
    if (control != INDIRECT_CONTEXT || !mt_type_read64(memory, *descriptor, &indirect))
        return false; /* an accessor function or the like: only the runtime could call it */
    *descriptor = indirect;
    return true;
}

/* One mangled name on its way. */
struct mangled {
    uintptr_t at;
    uintptr_t references[MOST_REFERENCES];
    uint32_t count;
    bool has_more; /* things other than references that a substitution might mean */
};

static bool copy_reference(struct mt_swift_name *name, struct mangled *mangled, uint8_t control) {
    uintptr_t descriptor;
    if (mangled->count == MOST_REFERENCES ||
        !find_reference(name->memory, control, mangled->at + 1, &descriptor))
        return false;
    mangled->references[mangled->count++] = descriptor;
    mangled->at += 5;
    return add_mangled_context(name, descriptor, 0);
}

/* "AA", "AaB": what came before, by number. Written out, its number would be another. */
static bool copy_substitutions(struct mt_swift_name *name, struct mangled *mangled) {
    for (;;) {
        uint8_t byte;
        if (!mt_type_read8(name->memory, ++mangled->at, &byte))
            return false;
        bool is_last = byte >= 'A' && byte <= 'Z';
        uint32_t number = (uint32_t)byte - (is_last ? 'A' : 'a');
        if (number >= mangled->count || mangled->has_more ||
            !add_mangled_context(name, mangled->references[number], 0))
            return false;
        if (is_last) {
            mangled->at++;
            return true;
        }
    }
}

/* "Si" and the like are two letters of one meaning; 'G' ends a generic type, which counts as
 * something to substitute, and so does an identifier. */
static bool copy_letter(struct mt_swift_name *name, struct mangled *mangled, uint8_t byte) {
    char letters[2] = {(char)byte, 0};
    size_t count = 1;
    if (byte == 'S') {
        uint8_t second;
        if (!mt_type_read8(name->memory, mangled->at + 1, &second) || second == 0)
            return false;
        letters[count++] = (char)second;
    }
    mangled->has_more |= byte == 'G' || (byte >= '0' && byte <= '9');
    mt_text_add_bytes(name->text, letters, count);
    mangled->at += count;
    return true;
}

static bool add_mangled(struct mt_swift_name *name, uintptr_t at) {
    struct mangled mangled = {.at = at};
    while (mangled.at - at < LONGEST_MANGLED) {
        uint8_t byte;
        if (!mt_type_read8(name->memory, mangled.at, &byte))
            return false;
        if (byte == 0)
            return true;
        bool is_copied = byte <= LAST_RELATIVE_REFERENCE ? copy_reference(name, &mangled, byte)
                         : byte <= LAST_REFERENCE        ? false
                         : byte == 'A'                   ? copy_substitutions(name, &mangled)
                                                         : copy_letter(name, &mangled, byte);
        if (!is_copied)
            return false;
    }
    return false;
}

bool mt_swift_add_captures(struct mt_swift_name *name, uintptr_t capture_descriptor) {
    uint32_t count;
    if (!mt_type_read32(name->memory, capture_descriptor, &count) || count > MOST_CAPTURES)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t type;
        size_t before = name->text->length;
        mt_text_add(name->text, "[");
        if (!mt_type_read_relative(name->memory, capture_descriptor + FIRST_TYPE + 4 * i, &type))
            return false;
        if (type == 0 || !add_mangled(name, type)) {
            /* Not to be told without the runtime: an empty name stands for it. */
            name->text->length = before;
            mt_text_add(name->text, "[");
        }
        mt_text_add(name->text, "]");
    }
    return true;
}
