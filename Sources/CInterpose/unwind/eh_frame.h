/* Call frame information: how a function's frame is left, read from .eh_frame and .debug_frame.
 *
 * Kept apart from the rules' table because it is the parser: it reads mapped memory of an image,
 * or a copy of a section, within the bounds of its sections, and understands the encodings that
 * linkers write (LSB 5.0, "Exception Frames"; DWARF 5, section 6.4). */
#ifndef MT_EH_FRAME_H
#define MT_EH_FRAME_H

#include "loader/image_map.h"
#include "unwind/unwind_rules.h"

enum mt_eh_frame_result {
    MT_EH_FRAME_FOUND,   /* *rule is filled; it may be of kind MT_RULE_UNKNOWN */
    MT_EH_FRAME_MISSING, /* no entry covers the address */
};

/* The rule for the instruction at pc (not a return address).
 *
 * section  where the tables of the image that holds pc are
 * errors   shapes that are not understood give MT_RULE_UNKNOWN; errno untouched
 * context  async-signal-safe; the image must stay mapped */
enum mt_eh_frame_result mt_eh_frame_rule(const struct mt_unwind_section *section, uintptr_t pc,
                                         struct mt_rule *rule);

/* A section .debug_frame in memory. */
struct mt_debug_frame_copy {
    const uint8_t *start;
    size_t size;
    uintptr_t bias; /* what is added to addresses in it */
};

/* As mt_eh_frame_rule(), by an entry of a section .debug_frame.
 *
 * entry  where the section describes the function, from its beginning */
enum mt_eh_frame_result mt_eh_frame_rule_in(const struct mt_debug_frame_copy *section, size_t entry,
                                            uintptr_t pc, struct mt_rule *rule);

/* Where in its frame the function at pc has saved registers of its callers.
 *
 * returns  the lowest address, in bytes from the CFA (negative); what is below are its variables.
 *          0 where that is not known
 * errors   errno untouched
 * context  as mt_eh_frame_rule() */
intptr_t mt_eh_frame_lowest_saved(const struct mt_unwind_section *section, uintptr_t pc);

#endif
