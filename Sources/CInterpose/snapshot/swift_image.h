/* Symbols of Swift's libraries, which are in libraries of their own or linked into the executable,
 * which may be stripped. */
#ifndef MT_SWIFT_IMAGE_H
#define MT_SWIFT_IMAGE_H

#include "loader/elf_symbols.h"

/* Looks for a symbol in an image with Swift code; in no other one.
 *
 * table_type  SHT_SYMTAB, SHT_DYNSYM
 * symbol      its name; its address stays 0 where it is not found
 * returns     whether Swift's libraries may be in the image whatever its symbols say
 * context     where the image is written; async-signal-safe */
bool mt_swift_image_find(const struct mt_loaded_image *image, uint32_t table_type,
                         struct mt_wanted_symbol *symbol);

#endif
