/* See swift_image.h. */
#include "snapshot/swift_image.h"

#include "loader/image_map.h"

bool mt_swift_image_find(const struct mt_loaded_image *image, uint32_t table_type,
                         struct mt_wanted_symbol *symbol) {
    struct mt_loaded_image core;
    struct mt_elf_file file;
    if (!mt_elf_open(&file, image))
        return false;
    bool has_swift = mt_elf_has_section(&file, "swift5_");
    if (has_swift)
        mt_elf_find_symbols(&file, table_type, image, symbol, 1, symbol->name);
    mt_elf_close(&file);
    return has_swift && !mt_image_map_find_loaded("libswiftCore.", &core);
}
