/* Finds calls and rewrites them. See call_sites.h. */
#define _GNU_SOURCE
#include "bundled/call_sites.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

enum {
    MOST_TARGETS = 96,
    /* Chromium has 700,000 calls: a system call for each would take two seconds. */
    LARGEST_WRITE = 16 << 10,
    /* Code between two places that is written again, as it was: not as far as to pages that would
     * stay as they are in the file. Of data nothing is: a handler of a signal may change it. */
    WIDEST_GAP = 512
};

struct patch {
    const struct mt_loaded_image *image;
    const struct mt_call_target *targets;
    size_t count;
    uintptr_t lowest, highest; /* of the functions */
    struct stub *stubs;        /* [count] */
    int memory;                /* /proc/self/mem: writes where the program may only read */
    long error;                /* of the first write that failed; then nothing more is written */
    uint64_t changed;
    /* What is still to be written, of neighbouring places: pending_size bytes from pending_start
     * on. */
    uintptr_t pending_start;
    size_t pending_size;
    uint64_t pending_places;
    size_t widest_gap;
    uint8_t *pending; /* [LARGEST_WRITE] */
};

/* ---- Stubs ---- */

struct stub {
    uint8_t code[16];
    uintptr_t target;
};

#if defined(__x86_64__)
/* endbr64; jmp *6(%rip); int3 ... */
static const uint8_t stub_code[16] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 6,    0,
                                      0,    0,    0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
/* Half of what a distance of 32 bits spans: the rest is for the image. */
static const uintptr_t reach = (uintptr_t)1 << 30;
#else
/* bti jc; ldr x16, .+12; br x16; brk */
static const uint32_t stub_code[4] = {0xd50324df, 0x58000070, 0xd61f0200, 0xd4200000};
/* Half of what 26 bits of words span. */
static const uintptr_t reach = (uintptr_t)1 << 26;
#endif

/* Below the image, where nothing grows: above a program is its heap. */
static void *map_below(uintptr_t image, size_t length) {
    const uintptr_t step = 64 << 10, lowest = 64 << 10;
    uintptr_t first = image & ~(step - 1);
    for (uintptr_t distance = step; distance <= reach && distance + lowest <= first;
         distance += step)
        if (mt_os_map_pages_at((void *)(first - distance), length))
            return (void *)(first - distance);
    return NULL;
}

static long make_stubs(struct patch *patch, uintptr_t image_start) {
    size_t length =
        (patch->count * sizeof *patch->stubs + MT_PAGE_SIZE - 1) & ~(size_t)(MT_PAGE_SIZE - 1);
    patch->stubs = map_below(image_start, length);
    if (!patch->stubs)
        return -ENOMEM;
    for (size_t i = 0; i < patch->count; i++) {
        memcpy(patch->stubs[i].code, stub_code, sizeof stub_code);
        patch->stubs[i].target = patch->targets[i].ours;
    }
    __builtin___clear_cache((char *)patch->stubs, (char *)patch->stubs + length);
    long error = mt_os_protect(patch->stubs, length, PROT_READ | PROT_EXEC);
    if (error < 0)
        mt_os_unmap_pages(patch->stubs, length);
    return error;
}

/* ---- Places ---- */

static void write_pending(struct patch *patch) {
    size_t size = patch->pending_size;
    patch->pending_size = 0;
    if (size == 0 || patch->error < 0)
        return;
    long written = mt_os_pwrite(patch->memory, patch->pending, size, patch->pending_start);
    if (written != (long)size) {
        patch->error = written < 0 ? written : -EIO;
        return;
    }
    __builtin___clear_cache((char *)patch->pending_start, (char *)patch->pending_start + size);
    patch->changed += patch->pending_places;
}

/* Whether a place lies so close behind those that are pending that they can be written with it. */
static bool is_near(const struct patch *patch, uintptr_t place, size_t size) {
    uintptr_t end = patch->pending_start + patch->pending_size;
    return patch->pending_size > 0 && place >= end && place - end <= patch->widest_gap &&
           place + size - patch->pending_start <= LARGEST_WRITE;
}

static void write_place(struct patch *patch, uintptr_t place, const void *bytes, size_t size) {
    if (!is_near(patch, place, size)) {
        write_pending(patch);
        patch->pending_start = place;
        patch->pending_places = 0;
    }
    uintptr_t end = patch->pending_start + patch->pending_size;
    memcpy(patch->pending + patch->pending_size, (const void *)end, place - end);
    memcpy(patch->pending + (place - patch->pending_start), bytes, size);
    patch->pending_size = place + size - patch->pending_start;
    patch->pending_places++;
}

/* returns  the stub of a function; 0 when it is none of the targets */
static uintptr_t stub_of(const struct patch *patch, uintptr_t function) {
    if (function - patch->lowest > patch->highest - patch->lowest)
        return 0;
    for (size_t i = 0; i < patch->count; i++)
        if (patch->targets[i].function == function)
            return (uintptr_t)&patch->stubs[i];
    return 0;
}

/* ---- Code ---- */

#if defined(__x86_64__)

/* Whether what ends before a distance is the opcode of a call, a jump, a conditional one or
 * `lea distance(%rip),%register`. */
static bool is_reference(const uint8_t *distance, const uint8_t *start) {
    uint8_t last = distance[-1];
    if (last == 0xe8 || last == 0xe9)
        return true;
    if (distance - start < 3)
        return false;
    bool is_conditional = distance[-2] == 0x0f && (last & 0xf0) == 0x80;
    bool is_load = (distance[-3] & 0xfb) == 0x48 && distance[-2] == 0x8d && (last & 0xc7) == 0x05;
    return is_conditional || is_load;
}

/* returns  whether there was one: its bytes are none that tell of another */
static bool patch_distance(struct patch *patch, uintptr_t at, uintptr_t start) {
    int32_t distance;
    memcpy(&distance, (const void *)at, sizeof distance);
    uintptr_t next = at + sizeof distance;
    uintptr_t stub = stub_of(patch, next + (uintptr_t)(intptr_t)distance);
    if (!stub || !is_reference((const uint8_t *)at, (const uint8_t *)start))
        return false;
    distance = (int32_t)(stub - next);
    write_place(patch, at, &distance, sizeof distance);
    return true;
}

/* `mov $address,%register`, where addresses have 32 bits. */
static bool patch_address(struct patch *patch, uintptr_t at) {
    uint32_t address;
    memcpy(&address, (const void *)at, sizeof address);
    uintptr_t stub = (((const uint8_t *)at)[-1] & 0xf8) == 0xb8 ? stub_of(patch, address) : 0;
    address = (uint32_t)stub;
    if (!stub || stub != address)
        return false;
    write_place(patch, at, &address, sizeof address);
    return true;
}

static void patch_code(struct patch *patch, uintptr_t start, uintptr_t end) {
    bool is_fixed = patch->image->bias == 0;
    for (uintptr_t at = start + 1; at + sizeof(uint32_t) <= end; at++)
        if (patch_distance(patch, at, start) || (is_fixed && patch_address(patch, at)))
            at += sizeof(uint32_t) - 1;
}

#else

/* b, bl */
static void patch_code(struct patch *patch, uintptr_t start, uintptr_t end) {
    const uint32_t opcode = 0x7c000000, branch = 0x14000000, words = 0x03ffffff;
    for (uintptr_t at = start; at + sizeof(uint32_t) <= end; at += sizeof(uint32_t)) {
        uint32_t instruction = *(const uint32_t *)at;
        if ((instruction & opcode) != branch)
            continue;
        int64_t distance = (int64_t)((uint64_t)instruction << 38) >> 36;
        uintptr_t stub = stub_of(patch, at + (uintptr_t)distance);
        if (!stub)
            continue;
        instruction = (instruction & ~words) | (((uint32_t)(stub - at) >> 2) & words);
        write_place(patch, at, &instruction, sizeof instruction);
    }
}

#endif

/* ---- Pointers that the loader has relocated ---- */

static void patch_pointer(struct patch *patch, uintptr_t slot) {
    uintptr_t stub = stub_of(patch, *(const uintptr_t *)slot);
    if (stub)
        write_place(patch, slot, &stub, sizeof stub);
}

struct relocations {
    uintptr_t whole, packed; /* DT_RELA, DT_RELR; 0: none */
    size_t whole_size, packed_size;
};

/* The loader has relocated these pointers, too, as a rule. */
static uintptr_t address_of(const struct mt_loaded_image *image, uintptr_t value) {
    return value >= image->bias ? value : image->bias + value;
}

static struct relocations find_relocations(const struct mt_loaded_image *image) {
    enum { PACKED_SIZE = 35, PACKED = 36 }; /* DT_RELRSZ, DT_RELR: newer than some headers */
    struct relocations found = {0};
    const ElfW(Dyn) *entry = NULL;
    for (int i = 0; i < image->program_header_count; i++)
        if (image->program_headers[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(image->bias + image->program_headers[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_RELA)
            found.whole = address_of(image, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_RELASZ)
            found.whole_size = entry->d_un.d_val;
        else if (entry->d_tag == PACKED)
            found.packed = address_of(image, entry->d_un.d_ptr);
        else if (entry->d_tag == PACKED_SIZE)
            found.packed_size = entry->d_un.d_val;
    }
    return found;
}

/* Words: an address, and behind it maps of the 63 words that follow. */
static void patch_packed(struct patch *patch, const struct relocations *relocations) {
    const uintptr_t *word = (const uintptr_t *)relocations->packed;
    const uintptr_t *end = word + relocations->packed_size / sizeof *word;
    uintptr_t next = 0;
    for (; word < end; word++) {
        if ((*word & 1) == 0) {
            next = patch->image->bias + *word;
            patch_pointer(patch, next);
            next += sizeof *word;
            continue;
        }
        for (uintptr_t bits = *word >> 1, slot = next; bits; bits >>= 1, slot += sizeof *word)
            if (bits & 1)
                patch_pointer(patch, slot);
        next += 63 * sizeof *word;
    }
}

static void patch_pointers(struct patch *patch) {
#if defined(__x86_64__)
    const uint32_t relative = R_X86_64_RELATIVE;
#else
    const uint32_t relative = R_AARCH64_RELATIVE;
#endif
    struct relocations relocations = find_relocations(patch->image);
    const ElfW(Rela) *whole = (const ElfW(Rela) *)relocations.whole;
    for (size_t i = 0; whole && i < relocations.whole_size / sizeof *whole; i++)
        if (ELF64_R_TYPE(whole[i].r_info) == relative)
            patch_pointer(patch, patch->image->bias + whole[i].r_offset);
    if (relocations.packed)
        patch_packed(patch, &relocations);
}

/* ---- All of an image ---- */

static void find_range(struct patch *patch) {
    patch->lowest = UINTPTR_MAX;
    for (size_t i = 0; i < patch->count; i++) {
        uintptr_t function = patch->targets[i].function;
        patch->lowest = function < patch->lowest ? function : patch->lowest;
        patch->highest = function > patch->highest ? function : patch->highest;
    }
}

static uintptr_t start_of(const struct mt_loaded_image *image) {
    uintptr_t start = UINTPTR_MAX;
    for (int i = 0; i < image->program_header_count; i++) {
        const ElfW(Phdr) *header = &image->program_headers[i];
        if (header->p_type == PT_LOAD && image->bias + header->p_vaddr < start)
            start = image->bias + header->p_vaddr;
    }
    return start;
}

static void patch_image(struct patch *patch) {
    patch->widest_gap = WIDEST_GAP;
    for (int i = 0; i < patch->image->program_header_count; i++) {
        const ElfW(Phdr) *header = &patch->image->program_headers[i];
        uintptr_t start = patch->image->bias + header->p_vaddr;
        if (header->p_type == PT_LOAD && (header->p_flags & (PF_X | PF_R)) == (PF_X | PF_R))
            patch_code(patch, start, start + header->p_filesz);
    }
    write_pending(patch);
    patch->widest_gap = 0;
    patch_pointers(patch);
    write_pending(patch);
}

long mt_call_sites_redirect(const struct mt_loaded_image *image,
                            const struct mt_call_target *targets, size_t count, uint64_t *changed) {
    struct patch patch = {.image = image, .targets = targets, .count = count};
    *changed = 0;
    if (count > MOST_TARGETS)
        return -E2BIG;
    find_range(&patch);
    long memory = mt_os_open(MT_AT_CWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
    if (memory < 0)
        return memory;
    patch.memory = (int)memory;
    patch.pending = mt_os_map_pages(LARGEST_WRITE);
    patch.error = patch.pending ? make_stubs(&patch, start_of(image)) : -ENOMEM;
    if (patch.error == 0)
        patch_image(&patch);
    mt_os_close(patch.memory);
    if (patch.pending)
        mt_os_unmap_pages(patch.pending, LARGEST_WRITE);
    *changed = patch.changed;
    return patch.error;
}
