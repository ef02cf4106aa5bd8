/* See snapshot_dispatch.h.
 *
 * Source: src/shims/tsd.h of swift-corelibs-libdispatch: struct dispatch_tsd is all that the
 * library has of thread-local variables. */
#include "snapshot/snapshot_dispatch.h"

#include "loader/image_map.h"

enum { SIZE_OF_VARIABLES = 96 };

static bool has_known_variables(const struct mt_loaded_image *image) {
    for (uint16_t i = 0; i < image->program_header_count; i++) {
        const ElfW(Phdr) *header = &image->program_headers[i];
        if (header->p_type == PT_TLS)
            return header->p_memsz == SIZE_OF_VARIABLES;
    }
    return false;
}

void mt_snapshot_dispatch(struct mt_snapshot_writer *writer) {
    struct mt_loaded_image image;
    if (!mt_image_map_find_loaded("libdispatch.", &image) || image.tls_module == 0 ||
        !has_known_variables(&image))
        return;
    struct mt_snapshot_class record = {.address = image.tls_module, .kind = MT_SNAPSHOT_DISPATCH};
    mt_snapshot_record(writer, MT_SNAPSHOT_CLASS, &record, sizeof record, "", 0);
}
