/* See type_survey.h. */
#include "types/type_survey.h"

#include "loader/image_map.h"
#include "types/type_slabs.h"
#include "types/type_swift.h"

enum { WORDS = MT_PAGE_SIZE / sizeof(uint64_t), DESCRIPTOR = 5 * sizeof(uint64_t) };

/* An executable may have so large variables that looking at them takes time. */
enum { MOST_BYTES = 16 << 20 };

struct survey {
    bool (*note)(uintptr_t metadata);
    struct mt_type_memory memory; /* while a page is looked at */
};

static bool is_generic(struct mt_type_memory *memory, uintptr_t metadata) {
    uint64_t descriptor;
    uint32_t flags;
    return mt_type_read64(memory, metadata + DESCRIPTOR, &descriptor) &&
           mt_image_map_contains(descriptor) && mt_type_read32(memory, descriptor, &flags) &&
           (flags & MT_SWIFT_CONTEXT_KIND) == MT_SWIFT_CLASS_CONTEXT &&
           (flags & MT_SWIFT_CONTEXT_GENERIC);
}

/* In front of both stands what destroys an object, and in front of a class its witnesses. */
static bool may_be_metadata(struct survey *survey, const uint64_t *words, uint32_t at) {
    if (words[at] != MT_SWIFT_CLASS && words[at] != MT_SWIFT_BOX)
        return false;
    if (at >= 2 && !words[at - 2])
        return false;
    if (words[at] == MT_SWIFT_BOX)
        return true;
    return (at < 1 || (words[at - 1] && mt_image_map_contains(words[at - 1]))) &&
           is_generic(&survey->memory, (uintptr_t)&words[at]);
}

static bool visit_page(struct survey *survey, uintptr_t page) {
    const uint64_t *words = (const uint64_t *)page;
    survey->memory = (struct mt_type_memory){{0}, 0};
    if (!mt_os_is_readable(page))
        return true;
    for (uint32_t i = 0; i < WORDS; i++)
        if (may_be_metadata(survey, words, i) && !survey->note((uintptr_t)&words[i]))
            return false;
    return true;
}

static bool visit_range(struct survey *survey, uintptr_t start, size_t size) {
    uintptr_t page = start & ~(uintptr_t)(MT_PAGE_SIZE - 1);
    for (; page < start + size; page += MT_PAGE_SIZE)
        if (!visit_page(survey, page))
            return false;
    return true;
}

/* One that is never unloaded. */
static bool visit_image(struct survey *survey, const char *prefix) {
    struct mt_loaded_image image;
    if (!mt_image_map_find_loaded(prefix, &image))
        return true;
    for (uint16_t i = 0; i < image.program_header_count; i++) {
        const ElfW(Phdr) *header = &image.program_headers[i];
        bool is_wanted =
            header->p_type == PT_LOAD && (header->p_flags & PF_W) && header->p_memsz <= MOST_BYTES;
        if (is_wanted && !visit_range(survey, image.bias + header->p_vaddr, header->p_memsz))
            return false;
    }
    return true;
}

void mt_type_survey(bool (*note)(uintptr_t metadata)) {
    struct survey survey = {.note = note};
    if (!mt_type_slabs_expects_swift() || !visit_image(&survey, "libswiftCore.") ||
        !visit_image(&survey, ""))
        return;
    for (uint32_t i = 0; mt_type_slabs_at(i); i++)
        if (!visit_range(&survey, mt_type_slabs_at(i), MT_TYPE_SLAB_SIZE))
            return;
}
