/* What closures capture, as mangled names. See type_swift.h.
 *
 * The compiler leaves a mangled name for each captured value. References in them are written out,
 * so that the names can be demangled without the image. */
#include "types/type_swift.h"

enum { FIRST_TYPE = 12, MOST_CAPTURES = 32 };

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
        if (type == 0 || !mt_swift_add_mangled(name, type)) {
            /* Not to be told without the runtime: an empty name stands for it. */
            name->text->length = before;
            mt_text_add(name->text, "[");
        }
        mt_text_add(name->text, "]");
    }
    return true;
}
