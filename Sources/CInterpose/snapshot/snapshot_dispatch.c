/* See snapshot_dispatch.h.
 *
 * Source: src/shims/tsd.h of swift-corelibs-libdispatch: struct dispatch_tsd is all that the
 * library has of thread-local variables. */
#include "snapshot/snapshot_dispatch.h"

#include "base/os_threads.h"
#include "loader/image_map.h"
#include "snapshot/snapshot_reads.h"
#include "snapshot/swift_image.h"

#include <stdint.h>

enum { SIZE_OF_VARIABLES = 96, FIRST_RECORD = 24, RECORD_SIZE = 64, OFFSET_SHIFT = 32 };

/* Of a thread control block, and of the vector of a thread's variables. */
enum { VECTOR = 8, ENTRY_SIZE = 16 };

static const char variables_name[] = "__dispatch_tsd";

static const ElfW(Phdr) * variables_of(const struct mt_loaded_image *image) {
    for (uint16_t i = 0; i < image->program_header_count; i++) {
        if (image->program_headers[i].p_type == PT_TLS)
            return &image->program_headers[i];
    }
    return NULL;
}

/* ---- In an executable ---- */

/* Where the variables of a module begin in a thread; 0: not known. */
static uint64_t block_of(uint64_t tls_base, uint64_t module, size_t size) {
    if (tls_base == 0 || !mt_snapshot_can_read(tls_base, 2 * sizeof(uint64_t)))
        return 0;
    uint64_t entry = mt_snapshot_field(tls_base, VECTOR) + ENTRY_SIZE * module;
    uint64_t block =
        mt_snapshot_can_read(entry, sizeof(uint64_t)) ? mt_snapshot_field(entry, 0) : 0;
    return size <= MT_PAGE_SIZE && mt_snapshot_can_read(block, size) ? block : 0;
}

/* The library's begin with the number of the thread, once it has worked in it, and are 0 before.
 * Others have that number as well (Swift's locks); records tell them apart.
 *
 * returns  whether they can be there in a thread
 * records  is set where they lead to one */
static bool fits_thread(uint64_t block, uint64_t offset, uint32_t tid, bool *records) {
    uint64_t number = block ? mt_snapshot_field(block, offset) : 0;
    if (number == 0)
        return true;
    uint64_t record = mt_snapshot_field(block, offset + FIRST_RECORD);
    if (number != tid || record % 16 != 0)
        return false;
    *records |= record && mt_snapshot_can_read(record, RECORD_SIZE);
    return true;
}

/* Whether the library's variables are at an offset in all threads, and lead to a record. */
static bool fits(const struct mt_snapshot_threads *threads, uint64_t module, size_t size,
                 uint64_t offset) {
    bool records = false;
    uint64_t own = block_of(mt_os_thread_pointer(), module, size);
    if (!fits_thread(own, offset, threads->taker, &records))
        return false;
    for (size_t i = 0; i < threads->park->count; i++) {
        const struct mt_parked_thread *parked = &threads->park->threads[i];
        if (mt_park_state(parked) != MT_SNAPSHOT_PARKED)
            continue;
        uint64_t block = block_of(parked->tls_base, module, size);
        if (!fits_thread(block, offset, parked->tid, &records))
            return false;
    }
    return records;
}

/* returns  whether there is one place where they can be */
static bool find_by_threads(const struct mt_snapshot_threads *threads, uint64_t module, size_t size,
                            uint64_t *offset) {
    size_t count = 0;
    for (uint64_t place = 0; place + SIZE_OF_VARIABLES <= size; place += sizeof(uint64_t)) {
        if (!fits(threads, module, size, place))
            continue;
        *offset = place;
        count++;
    }
    return count == 1;
}

/* Beside variables of others. */
static bool find_in_executable(const struct mt_snapshot_threads *threads,
                               const struct mt_loaded_image *image, size_t size, uint64_t *offset) {
    struct mt_wanted_symbol symbol = {.name = variables_name};
    bool may_be_stripped = mt_swift_image_find(image, SHT_SYMTAB, &symbol);
    if (may_be_stripped && !symbol.address)
        return find_by_threads(threads, image->tls_module, size, offset);
    *offset = symbol.address - image->bias;
    return symbol.size == SIZE_OF_VARIABLES && *offset <= size - SIZE_OF_VARIABLES;
}

/* ---- Either way ---- */

/* Sets the number of the thread-local variables of an image, and where the library's are in them.
 */
static bool find(const struct mt_snapshot_threads *threads, uint64_t *module, uint64_t *offset) {
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
                      : find_in_executable(threads, &image, variables->p_memsz, offset);
}

void mt_snapshot_dispatch(struct mt_snapshot_writer *writer,
                          const struct mt_snapshot_threads *threads) {
    uint64_t module, offset;
    if (!find(threads, &module, &offset))
        return;
    struct mt_snapshot_class record = {.address = module | offset << OFFSET_SHIFT,
                                       .kind = MT_SNAPSHOT_DISPATCH};
    mt_snapshot_record(writer, MT_SNAPSHOT_CLASS, &record, sizeof record, "", 0);
}
