/* See snapshot_slabs.h. */
#include "snapshot/snapshot_slabs.h"

#include "snapshot/snapshot_reads.h"

enum { NEXT = 1, USE = 2, OWNER = 5, HEADER_WORDS = 6 }; /* words */
enum { ALIGNMENT = 16, LEAST_CAPACITY = 256 };

struct search {
    uint64_t start; /* the variables of the image */
    uint64_t size;
    uint64_t found;
    uint64_t votes;
};

/* ---- Form ---- */

static bool is_in_use(uint64_t use) {
    uint32_t capacity = (uint32_t)use, used = (uint32_t)(use >> 32);
    return capacity >= LEAST_CAPACITY && used <= capacity && used % ALIGNMENT == 0;
}

static bool is_slab(uint64_t address, const uint64_t *words) {
    return words[OWNER] == address && is_in_use(words[USE]) && words[NEXT] % ALIGNMENT == 0 &&
           words[0] % sizeof(uint64_t) == 0 && mt_snapshot_can_read(words[0], sizeof(uint64_t)) &&
           mt_snapshot_field(words[0], 0) == 0;
}

/* ---- Search ---- */

/* What most of them begin with. */
static void vote(struct search *search, uint64_t word) {
    if (search->votes == 0)
        search->found = word;
    search->votes += search->found == word ? 1 : UINT64_MAX;
}

static void find_slabs(uint64_t page, const uint64_t *words, void *context) {
    struct search *search = context;
    for (size_t i = 0; i < MT_PAGE_SIZE / 8; i += ALIGNMENT / 8) {
        uint64_t address = page + i * 8;
        if (words[i] - search->start >= search->size)
            continue;
        bool is_whole = i + HEADER_WORDS <= MT_PAGE_SIZE / 8 ||
                        mt_snapshot_can_read(address, HEADER_WORDS * sizeof(uint64_t));
        if (is_whole && is_slab(address, words + i))
            vote(search, words[i]);
    }
}

static void find_variables(struct search *search, const struct mt_loaded_image *image) {
    for (uint16_t i = 0; i < image->program_header_count; i++) {
        const ElfW(Phdr) *header = &image->program_headers[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_W))
            continue;
        search->start = image->bias + header->p_vaddr;
        search->size = header->p_memsz;
    }
}

uint64_t mt_snapshot_slabs_find(struct mt_page_walker *walker, const struct mt_region_list *list,
                                const struct mt_loaded_image *runtime) {
    struct search search = {0};
    find_variables(&search, runtime);
    for (size_t i = 0; i < list->count && search.size != 0; i++)
        if (mt_region_is_open(&list->regions[i]))
            mt_pages_visit(walker, &list->regions[i], find_slabs, &search);
    return search.votes ? search.found : 0;
}
