/* See snapshot_dispatch.h.
 *
 * Source: src/shims/tsd.h of swift-corelibs-libdispatch: struct dispatch_tsd is all that the
 * library has of thread-local variables. */
#include "snapshot/snapshot_dispatch.h"

#include "loader/image_map.h"

#include <stdint.h>

enum { SIZE_OF_VARIABLES = 96, OFFSET_SHIFT = 32 };

static const char variables_name[] = "__dispatch_tsd";

static const ElfW(Phdr) * variables_of(const struct mt_loaded_image *image) {
    for (uint16_t i = 0; i < image->program_header_count; i++) {
        if (image->program_headers[i].p_type == PT_TLS)
            return &image->program_headers[i];
    }
    return NULL;
}

/* An executable has variables of others beside them; a stripped one does not say where they are. */
static bool find_in_executable(const struct mt_loaded_image *image, size_t size, uint64_t *offset) {
    struct mt_wanted_symbol symbol = {.name = variables_name};
    struct mt_elf_file file;
    if (!mt_elf_open(&file, image))
        return false;
    if (mt_elf_has_section(&file, "swift5_"))
        mt_elf_find_symbols(&file, SHT_SYMTAB, image, &symbol, 1, variables_name);
    mt_elf_close(&file);
    *offset = symbol.address - image->bias;
    return symbol.size == SIZE_OF_VARIABLES && *offset <= size - SIZE_OF_VARIABLES;
}

/* Sets the number of the thread-local variables of an image, and where the library's are in them.
 */
static bool find(uint64_t *module, uint64_t *offset) {
    struct mt_loaded_image image;
    bool is_library = mt_image_map_find_loaded("libdispatch.", &image);
    if (!is_library && !mt_image_map_find_loaded("", &image))
        return false;
    const ElfW(Phdr) *variables = variables_of(&image);
    *module = image.tls_module;
    *offset = 0;
    if (*module == 0 || *module > UINT32_MAX || !variables ||
        variables->p_memsz < SIZE_OF_VARIABLES)
        return false;
    return is_library ? variables->p_memsz == SIZE_OF_VARIABLES
                      : find_in_executable(&image, variables->p_memsz, offset);
}

void mt_snapshot_dispatch(struct mt_snapshot_writer *writer) {
    uint64_t module, offset;
    if (!find(&module, &offset))
        return;
    struct mt_snapshot_class record = {.address = module | offset << OFFSET_SHIFT,
                                       .kind = MT_SNAPSHOT_DISPATCH};
    mt_snapshot_record(writer, MT_SNAPSHOT_CLASS, &record, sizeof record, "", 0);
}
