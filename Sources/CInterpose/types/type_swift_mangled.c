/* Mangled names of types with what they refer to written out. See type_swift.h.
 *
 * In a mangled name that the compiler leaves, types of the image are symbolic references: a control
 * character and the distance to a descriptor. */
#include "types/type_swift.h"

enum { MOST_SUBSTITUTIONS = 32, LONGEST_MANGLED = 256, MOST_REPEATS = 8 };
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

/* "4main" or a standard abbreviation; then "4BaseC" for a type. *made grows by the substitutions
 * that the text makes: one for an identifier, one for a type. */
static bool add_identifier(struct mt_swift_name *name, uintptr_t descriptor, uint32_t kind,
                           uint32_t *made) {
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
    *made += suffix_of(kind)[0] ? 2 : 1;
    return true;
}

static bool add_mangled_context(struct mt_swift_name *name, uintptr_t descriptor, unsigned nesting,
                                uint32_t *made) {
    uint32_t flags;
    uintptr_t parent;
    if (!mt_swift_read_context(name->memory, descriptor, nesting, &flags, &parent))
        return false;
    uint32_t kind = flags & MT_SWIFT_CONTEXT_KIND;
    if (parent && !add_mangled_context(name, parent, nesting + 1, made))
        return false;
    if (kind != MT_SWIFT_MODULE && suffix_of(kind)[0] == 0)
        return kind == MT_SWIFT_EXTENSION || kind == MT_SWIFT_ANONYMOUS;
    return add_identifier(name, descriptor, kind, made);
}

/* control is followed by the distance to a descriptor, or to where its address is. */
bool mt_swift_find_reference(struct mt_type_memory *memory, uint8_t control, uintptr_t at,
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

/* One mangled name on its way.
 *
 * "AA", "AB" ... mean what came before, by number: each identifier, type and generic type with its
 * arguments counts. Written out, a reference counts for more than one, so that each number that is
 * read stands for another one that is written. */
struct mangled {
    uintptr_t at;
    uint16_t numbers[MOST_SUBSTITUTIONS]; /* as written, by those as read */
    uint32_t count;
    uint32_t written;
    bool is_unsure; /* what came does or does not count: later numbers are not known */
};

/* One more thing that can be meant again, as the last of `made` that were written. */
static bool note_substitution(struct mangled *mangled, uint32_t made) {
    if (mangled->count == MOST_SUBSTITUTIONS || made == 0)
        return false;
    mangled->written += made;
    mangled->numbers[mangled->count++] = (uint16_t)(mangled->written - 1);
    return true;
}

static bool peek(struct mt_swift_name *name, const struct mangled *mangled, uint8_t *byte) {
    return mt_type_read8(name->memory, mangled->at, byte) && *byte != 0;
}

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

static bool copy_bytes(struct mt_swift_name *name, struct mangled *mangled, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint8_t byte;
        if (!peek(name, mangled, &byte))
            return false;
        char letter = (char)byte;
        mt_text_add_bytes(name->text, &letter, 1);
        mangled->at++;
    }
    return true;
}

/* Digits, if there are any; *found says so. */
static bool read_number(struct mt_swift_name *name, struct mangled *mangled, uint32_t *number,
                        bool *found) {
    uint8_t byte;
    *number = 0;
    *found = false;
    while (peek(name, mangled, &byte) && is_digit(byte)) {
        if (*number > LONGEST_MANGLED)
            return false;
        *number = *number * 10 + byte - '0';
        *found = true;
        mangled->at++;
    }
    return true;
}

static bool copy_reference(struct mt_swift_name *name, struct mangled *mangled, uint8_t control) {
    uintptr_t descriptor;
    uint32_t made = 0;
    if (!mt_swift_find_reference(name->memory, control, mangled->at + 1, &descriptor))
        return false;
    mangled->at += 5;
    return add_mangled_context(name, descriptor, 0, &made) && note_substitution(mangled, made);
}

/* "A" to "Z" are the first 26, then "A_", "A0_", "A1_" ... */
static bool add_substitution(struct mt_swift_name *name, const struct mangled *mangled,
                             uint32_t number) {
    if (number >= mangled->count || mangled->is_unsure)
        return false;
    uint32_t written = mangled->numbers[number];
    char letter = (char)('A' + written);
    mt_text_add(name->text, "A");
    if (written < 26) {
        mt_text_add_bytes(name->text, &letter, 1);
        return true;
    }
    if (written > 26)
        mt_text_add_number(name->text, written - 27);
    mt_text_add(name->text, "_");
    return true;
}

/* "AA", "AaB", "A2b": what came before, by number. A capital is the last of them. */
static bool copy_substitutions(struct mt_swift_name *name, struct mangled *mangled) {
    mangled->at++;
    for (;;) {
        uint32_t digits;
        bool has_digits;
        uint8_t byte;
        if (!read_number(name, mangled, &digits, &has_digits) || !peek(name, mangled, &byte))
            return false;
        mangled->at++;
        if (byte == '_')
            return add_substitution(name, mangled, has_digits ? digits + 27 : 26);
        bool is_last = byte >= 'A' && byte <= 'Z';
        if (!is_last && !(byte >= 'a' && byte <= 'z'))
            return false;
        uint32_t times = has_digits ? digits : 1;
        if (times == 0 || times > MOST_REPEATS)
            return false;
        while (times-- > 0)
            if (!add_substitution(name, mangled, (uint32_t)byte - (is_last ? 'A' : 'a')))
                return false;
        if (is_last)
            return true;
    }
}

/* "9SeaAnemone": its letters mean nothing. With a 0 in front it refers to words of what came
 * before, which have other numbers in what is written. */
static bool copy_identifier(struct mt_swift_name *name, struct mangled *mangled) {
    uint32_t length;
    bool found;
    if (!read_number(name, mangled, &length, &found) || length == 0 || length > LONGEST_MANGLED)
        return false;
    mt_text_add_number(name->text, length);
    return copy_bytes(name, mangled, length) && note_substitution(mangled, 1);
}

/* "Si", "S2i" for two of them, "ScA" for types of the concurrency library. An optional type "Sg"
 * counts as something to substitute. */
static bool copy_standard(struct mt_swift_name *name, struct mangled *mangled) {
    uint8_t byte;
    do
        if (!copy_bytes(name, mangled, 1) || !peek(name, mangled, &byte))
            return false;
    while (is_digit(byte));
    if (byte == 'c')
        return copy_bytes(name, mangled, 2);
    return copy_bytes(name, mangled, 1) && (byte != 'g' || note_substitution(mangled, 1));
}

/* How a function is called, "Iegyr_", and other words with numbers in them: up to the line. */
static bool copy_to_line(struct mt_swift_name *name, struct mangled *mangled) {
    uint8_t byte;
    do
        if (!peek(name, mangled, &byte) || !copy_bytes(name, mangled, 1))
            return false;
    while (byte != '_');
    return true;
}

/* "Bi64_", "BD": a type of the compiler's own. */
static bool copy_builtin(struct mt_swift_name *name, struct mangled *mangled) {
    uint8_t byte;
    if (!copy_bytes(name, mangled, 1) || !peek(name, mangled, &byte))
        return false;
    bool has_width = byte == 'i' || byte == 'f' || byte == 'v' || byte == 'b';
    return has_width ? copy_to_line(name, mangled) : copy_bytes(name, mangled, 1);
}

/* Which parameter of the function or type around it: "_", "0_", "d0__" with its depth, "z" for the
 * first one. */
static bool copy_index(struct mt_swift_name *name, struct mangled *mangled) {
    uint8_t byte;
    if (!peek(name, mangled, &byte))
        return false;
    if (byte == 'z')
        return copy_bytes(name, mangled, 1);
    return (byte != 'd' || copy_to_line(name, mangled)) && copy_to_line(name, mangled);
}

/* "q_", "qd0__" */
static bool copy_parameter(struct mt_swift_name *name, struct mangled *mangled) {
    return copy_bytes(name, mangled, 1) && copy_index(name, mangled);
}

/* What may count as something to substitute: "Qp", "LL". */
static bool copy_unsure(struct mt_swift_name *name, struct mangled *mangled) {
    uint8_t byte;
    mangled->is_unsure = true;
    if (!copy_bytes(name, mangled, 2))
        return false;
    return !peek(name, mangled, &byte) || !is_digit(byte) || copy_to_line(name, mangled);
}

/* An associated type of what stands in front of it, "Qx", or of a parameter, "Qz", "Qy0_"; in upper
 * case one of several steps. It counts. */
static bool copy_associated(struct mt_swift_name *name, struct mangled *mangled) {
    uint8_t letter;
    if (!mt_type_read8(name->memory, mangled->at + 1, &letter))
        return false;
    switch (letter | ('a' ^ 'A')) {
    case 'x':
    case 'z':
        return copy_bytes(name, mangled, 2) && note_substitution(mangled, 1);
    case 'y':
        return copy_bytes(name, mangled, 2) && copy_index(name, mangled) &&
               note_substitution(mangled, 1);
    default:
        return copy_unsure(name, mangled);
    }
}

/* One word of the mangled name. */
static bool copy_word(struct mt_swift_name *name, struct mangled *mangled, uint8_t byte) {
    switch (byte) {
    case 'A':
        return copy_substitutions(name, mangled);
    case 'S':
        return copy_standard(name, mangled);
    case 'B':
        return copy_builtin(name, mangled);
    case 'q':
        return copy_parameter(name, mangled);
    case '$':
    case 'I':
        return copy_to_line(name, mangled);
    case 'X':
    case 'Y': /* words of two letters */
        return copy_bytes(name, mangled, 2);
    case 'Q':
        return copy_associated(name, mangled);
    case 'L':
    case 'M':
    case 'W':
        return copy_unsure(name, mangled);
    case 'C':
    case 'G':
    case 'O':
    case 'P':
    case 'V':
    case 'a': /* a type, or the end of the arguments of a generic one */
        return copy_bytes(name, mangled, 1) && note_substitution(mangled, 1);
    default:
        return is_digit(byte) ? copy_identifier(name, mangled) : copy_bytes(name, mangled, 1);
    }
}

bool mt_swift_add_mangled(struct mt_swift_name *name, uintptr_t at) {
    struct mangled mangled = {.at = at};
    while (mangled.at - at < LONGEST_MANGLED) {
        uint8_t byte;
        if (!mt_type_read8(name->memory, mangled.at, &byte))
            return false;
        if (byte == 0)
            return true;
        bool is_copied = byte <= LAST_RELATIVE_REFERENCE ? copy_reference(name, &mangled, byte)
                         : byte <= LAST_REFERENCE        ? false
                                                         : copy_word(name, &mangled, byte);
        if (!is_copied)
            return false;
    }
    return false;
}
