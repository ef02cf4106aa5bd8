/* See inherited_pages.h.
 *
 * A page that the process wrote to can be shared nevertheless: with its own children, of which the
 * recorder does not know all (raw clone), and with the copy that writes a snapshot. A page that is
 * written once, right after the fork, tells: while somebody has it as well, nothing is known. Each
 * generation has a page of its own, as its children must keep those of all before. */
#include "snapshot/inherited_pages.h"

#include "events/recorder.h"
#include "loader/image_map.h"
#include "snapshot/swift_image.h"

enum { MOST_GENERATIONS = 8 };

static struct {
    _Alignas(MT_PAGE_SIZE) unsigned char pages[MOST_GENERATIONS][MT_PAGE_SIZE];
    unsigned generation; /* 1: forked by a process that was not forked itself */
} g_witness;

void mt_inherited_pages_begin(void) {
    mt_has_kept_a_place = false;
    if (g_witness.generation < MOST_GENERATIONS)
        *(volatile unsigned char *)g_witness.pages[g_witness.generation] = 1;
    g_witness.generation++;
}

/* Where the page is swapped out, others that are not may be shared. */
static bool is_alone(int pagemap) {
    uint64_t entry, page = (uintptr_t)g_witness.pages[g_witness.generation - 1] / MT_PAGE_SIZE;
    return mt_os_pread(pagemap, &entry, sizeof entry, page * sizeof entry) == sizeof entry &&
           entry & MT_PAGE_IN_MEMORY && !mt_inherited_pages_share(entry);
}

/* The kernel joins pages of equal contents where it is asked to (KSM, prctl(PR_SET_MEMORY_MERGE)),
 * whoever has written them. */
static bool may_be_merged(void) {
    char text[2];
    return mt_os_read_file("/proc/self/ksm_merging_pages", text, sizeof text) > 0 && text[0] != '0';
}

/* Readers follow objects of Swift and of GObject by what their classes say, which may lie in blocks
 * that the parent allocated. */
static bool has_classes_in_blocks(void) {
    struct mt_loaded_image image;
    struct mt_wanted_symbol symbol = {.name = "swift_allocObject"};
    return mt_image_map_find_loaded("libswiftCore", &image) ||
           mt_image_map_find_loaded("libgobject", &image) ||
           (mt_image_map_find_loaded("", &image) &&
            mt_swift_image_find(&image, SHT_SYMTAB, &symbol));
}

bool mt_inherited_pages_are_known(int pagemap) {
    bool is_told = g_witness.generation > 0 && g_witness.generation <= MOST_GENERATIONS;
    /* The pointers to a block that the parent allocated and that is this one's since a realloc
     * which left it where it was need not have been written again. */
    return is_told && pagemap >= 0 && !mt_has_kept_a_place && is_alone(pagemap) &&
           !may_be_merged() && !has_classes_in_blocks();
}
