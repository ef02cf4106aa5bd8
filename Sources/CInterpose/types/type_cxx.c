/* C++ classes by their run-time type information (Itanium C++ ABI 2.5.2, 2.9.5). See type_reader.h.
 *
 *   word -> vtable:     [-2] offset to top, [-1] type_info, [0] virtual functions ...
 *   type_info:          [0] vtable of its own class, [1] name, [2] base (single inheritance)
 *
 * A type_info is recognised by the name of *its* class, which the C++ runtime defines, wherever
 * that is: in libstdc++, libc++abi or the executable. */
#include "loader/image_map.h"
#include "types/type_reader.h"

enum { WORD = sizeof(uint64_t) };

enum type_info_class { NO_TYPE_INFO, WITHOUT_BASES, ONE_BASE, SEVERAL_BASES };

static enum type_info_class class_of(struct mt_type_memory *memory, uintptr_t type_info) {
    uint64_t vtable, own_type_info, name;
    char text[48];
    if (!mt_type_read64(memory, type_info, &vtable) ||
        !mt_type_read64(memory, vtable - WORD, &own_type_info) ||
        !mt_type_read64(memory, own_type_info + WORD, &name) ||
        mt_type_read_string(memory, name, text, sizeof text) < 0)
        return NO_TYPE_INFO;
    if (mt_text_equal(text, "N10__cxxabiv120__si_class_type_infoE"))
        return ONE_BASE;
    if (mt_text_equal(text, "N10__cxxabiv117__class_type_infoE"))
        return WITHOUT_BASES;
    if (mt_text_equal(text, "N10__cxxabiv121__vmi_class_type_infoE"))
        return SEVERAL_BASES;
    return NO_TYPE_INFO;
}

bool mt_type_read_type_info(struct mt_type_memory *memory, uintptr_t type_info,
                            struct mt_type_description *description) {
    uint64_t name;
    uint8_t first;
    struct mt_text *text = &description->name;
    if (class_of(memory, type_info) == NO_TYPE_INFO ||
        !mt_type_read64(memory, type_info + WORD, &name) || !mt_type_read8(memory, name, &first))
        return false;
    /* '*' marks a class of internal linkage, whose name tells it apart only by address. */
    if (first == '*')
        name++;
    long length = mt_type_read_string(memory, name, text->bytes, text->capacity);
    if (length <= 0)
        return false;
    text->length = (size_t)length;
    description->kind = MT_TYPE_CXX_CLASS;
    description->definition = type_info;
    description->instance_size = 0;
    return true;
}

uintptr_t mt_type_cxx_base(struct mt_type_memory *memory, uintptr_t type_info) {
    uint64_t base = 0, offset_flags;
    uint32_t count;
    switch (class_of(memory, type_info)) {
    case ONE_BASE:
        return mt_type_read64(memory, type_info + 2 * WORD, &base) ? base : 0;
    case SEVERAL_BASES:
        /* flags, number of bases, then for each its type_info and (offset << 8 | flags). */
        if (!mt_type_read32(memory, type_info + 2 * WORD + 4, &count) || count == 0 ||
            !mt_type_read64(memory, type_info + 3 * WORD, &base) ||
            !mt_type_read64(memory, type_info + 4 * WORD, &offset_flags))
            return 0;
        return (int64_t)offset_flags >> 8 == 0 ? base : 0;
    default:
        return 0;
    }
}

/* A table of functions with nothing before it may be the vtable of a class without RTTI. Whether it
 * is, its symbol tells the reader of the trace. */
static bool is_bare_vtable(struct mt_type_memory *memory, uint64_t vtable) {
    bool has_function = false;
    /* An abstract class has no destructors to call: its first two entries are empty. */
    for (uint64_t i = 0; i < 3 && !has_function; i++) {
        uint64_t function;
        if (!mt_type_read64(memory, vtable + i * WORD, &function))
            return false;
        if (function != 0 && !mt_image_map_contains(function))
            return false;
        has_function = function != 0;
    }
    return has_function;
}

bool mt_type_read_cxx(struct mt_type_memory *memory, const struct mt_type_block *block,
                      struct mt_type_description *description) {
    uint64_t offset_to_top, type_info;
    if (!mt_type_read64(memory, block->word - 2 * WORD, &offset_to_top) || offset_to_top != 0 ||
        !mt_type_read64(memory, block->word - WORD, &type_info))
        return false;
    if (type_info != 0)
        return mt_type_read_type_info(memory, type_info, description);
    if (!is_bare_vtable(memory, block->word))
        return false;
    description->kind = MT_TYPE_CXX_VTABLE;
    description->definition = block->word;
    description->instance_size = 0;
    return true;
}
