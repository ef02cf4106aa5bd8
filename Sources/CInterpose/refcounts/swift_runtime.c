/* See swift_runtime.h. */
#define _GNU_SOURCE
#include "refcounts/swift_runtime.h"

#include "base/text.h"
#include <string.h>

enum symbol {
    RETAIN,
    RELEASE,
    RETAIN_N,
    RELEASE_N,
    TRY_RETAIN,
    RETAIN_PLACE,
    RELEASE_PLACE,
    RETAIN_N_PLACE,
    RELEASE_N_PLACE,
    TRY_RETAIN_PLACE,
    FLAG,
    SYMBOLS,
    FUNCTIONS = RETAIN_PLACE
};

static const char *const names[SYMBOLS] = {
    [RETAIN] = "swift_retain",
    [RELEASE] = "swift_release",
    [RETAIN_N] = "swift_retain_n",
    [RELEASE_N] = "swift_release_n",
    [TRY_RETAIN] = "swift_tryRetain",
    [RETAIN_PLACE] = "_swift_retain",
    [RELEASE_PLACE] = "_swift_release",
    [RETAIN_N_PLACE] = "_swift_retain_n",
    [RELEASE_N_PLACE] = "_swift_release_n",
    [TRY_RETAIN_PLACE] = "_swift_tryRetain",
    [FLAG] = "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly",
};

#if defined(__x86_64__)

/* ---- Memory of the image ---- */

static bool lies_in(const struct mt_loaded_image *image, uintptr_t address, size_t size,
                    uint32_t type, uint32_t flags) {
    for (uint16_t i = 0; i < image->program_header_count; i++) {
        const ElfW(Phdr) *header = &image->program_headers[i];
        uintptr_t start = image->bias + header->p_vaddr;
        if (header->p_type == type && (header->p_flags & flags) == flags && address >= start &&
            size <= header->p_memsz && address - start <= header->p_memsz - size)
            return true;
    }
    return false;
}

static bool is_code(const struct mt_loaded_image *image, uintptr_t address, size_t size) {
    return lies_in(image, address, size, PT_LOAD, PF_R | PF_X);
}

static bool is_variable(const struct mt_loaded_image *image, uintptr_t address, size_t size) {
    return address % size == 0 && lies_in(image, address, size, PT_LOAD, PF_R | PF_W) &&
           !lies_in(image, address, size, PT_GNU_RELRO, 0);
}

/* ---- Code ---- */

enum { LONGEST_FUNCTION = 4096, ADAPTER_LENGTH = 32 };

static int32_t distance_at(const uint8_t *at) {
    int32_t distance;
    memcpy(&distance, at, sizeof distance);
    return distance;
}

/* What may stand between the load of the function and the jump: `mov %edx,%esi`, the amount of the
 * calls that have one, and `pop %rbp`. None changes the object in %rdi. */
static const uint8_t *past_epilogue(const uint8_t *at) {
    static const uint8_t move[] = {0x89, 0xd6};
    if (memcmp(at, move, sizeof move) == 0)
        at += sizeof move;
    return *at == 0x5d ? at + 1 : at;
}

/* The variable that the instructions at a place jump through; 0 when they do not.
 *   jmp *distance(%rip)      or      mov distance(%rip),%rax; [...]; jmp *%rax */
static uintptr_t jumps_through(const uint8_t *at) {
    static const uint8_t jump[] = {0xff, 0x25}, load[] = {0x48, 0x8b, 0x05},
                         to_rax[] = {0xff, 0xe0};
    if (memcmp(at, jump, sizeof jump) == 0)
        return (uintptr_t)at + 6 + (uintptr_t)(intptr_t)distance_at(at + 2);
    if (memcmp(at, load, sizeof load) != 0 ||
        memcmp(past_epilogue(at + 7), to_rax, sizeof to_rax) != 0)
        return 0;
    return (uintptr_t)at + 7 + (uintptr_t)(intptr_t)distance_at(at + 3);
}

/* The longest of the patterns above. */
enum { PATTERN = 16 };

/* The first variable of the image that a stretch of code jumps through; 0 when there is none. */
static uintptr_t place_used_by(const struct mt_loaded_image *image, uintptr_t start, size_t size) {
    for (uintptr_t at = start; at < start + size && is_code(image, at, PATTERN); at++) {
        uintptr_t place = jumps_through((const uint8_t *)at);
        if (place && is_variable(image, place, sizeof(void *)))
            return place;
    }
    return 0;
}

/* True when a function jumps through a variable, itself or by a short function that it jumps to
 * (_swift_release_adapter), which must begin with that or with an empty frame. */
static bool uses_place(const struct mt_loaded_image *image, const struct mt_wanted_symbol *function,
                       uintptr_t place) {
    static const uint8_t frame[] = {0x55, 0x48, 0x89, 0xe5, 0x5d};
    uintptr_t end = function->address + function->size;
    if (place_used_by(image, function->address, function->size) == place)
        return true;
    for (uintptr_t at = function->address; at + 5 <= end; at++) {
        if (*(const uint8_t *)at != 0xe9)
            continue;
        uintptr_t target = at + 5 + (uintptr_t)(intptr_t)distance_at((const uint8_t *)at + 1);
        if (!is_code(image, target, ADAPTER_LENGTH))
            continue;
        if (memcmp((const void *)target, frame, sizeof frame) == 0)
            target += sizeof frame;
        if (jumps_through((const uint8_t *)target) == place)
            return true;
    }
    return false;
}

/* ---- Proof ---- */

/* A linker leaves out of a static program what it never calls; these it always does. */
static bool is_needed(uint32_t function) {
    return function == RETAIN || function == RELEASE;
}

static const char *check_function(const struct mt_loaded_image *image,
                                  const struct mt_wanted_symbol *function,
                                  const struct mt_wanted_symbol *place) {
    if (!place->address)
        return "it has no symbols for its reference counting (stripped?)";
    if (function->size == 0 || function->size > LONGEST_FUNCTION ||
        !is_code(image, function->address, function->size))
        return "its functions are not where its symbols say";
    if (!is_variable(image, place->address, sizeof(void *)))
        return "its places for hooks cannot be written to";
    return NULL;
}

static const char *check_symbols(const struct mt_loaded_image *image,
                                 struct mt_wanted_symbol *symbols) {
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        struct mt_wanted_symbol *place = &symbols[RETAIN_PLACE + i];
        if (!symbols[i].address && !is_needed(i)) {
            place->address = 0;
            continue;
        }
        const char *reason = check_function(image, &symbols[i], place);
        if (reason)
            return reason;
    }
    if (symbols[FLAG].address && !is_variable(image, symbols[FLAG].address, 1))
        return "its places for hooks cannot be written to";
    return NULL;
}

/* The functions in the places are the runtime's own, of this very image. */
static enum mt_swift_runtime_answer check_content(const struct mt_loaded_image *image,
                                                  uintptr_t place, const char **reason) {
    uintptr_t function = *(const uintptr_t *)place;
    if (is_code(image, function, PATTERN))
        return MT_RUNTIME_FOUND;
    if (function == 0 || is_code(image, image->bias + function, PATTERN))
        return MT_RUNTIME_UNREADY;
    *reason = "another tool has replaced its functions";
    return MT_RUNTIME_UNSAFE;
}

/* swift_retain of 6.3 goes through a function of its own, in a variable without a symbol that can
 * be relied on, which takes bits out of the object before it looks whether it is one; with it,
 * hooks on _swift_retain crash (https://github.com/swiftlang/swift/pull/88924). So this variable
 * is the place then. */
static bool find_adapter(const struct mt_loaded_image *image,
                         const struct mt_wanted_symbol *symbols, uintptr_t *adapter) {
    uintptr_t place = place_used_by(image, symbols[RETAIN].address, symbols[RETAIN].size);
    *adapter = place == symbols[RETAIN_PLACE].address ? 0 : place;
    return place != 0;
}

static enum mt_swift_runtime_answer prove(const struct mt_loaded_image *image,
                                          struct mt_wanted_symbol *symbols,
                                          struct mt_swift_runtime *runtime, const char **reason) {
    uintptr_t adapter;
    *reason = check_symbols(image, symbols);
    if (*reason)
        return MT_RUNTIME_UNSAFE;
    *reason = "its code has another form than that of the known versions";
    if (!find_adapter(image, symbols, &adapter))
        return MT_RUNTIME_UNSAFE;
    for (uint32_t i = RELEASE; i < FUNCTIONS; i++)
        if (symbols[i].address &&
            !uses_place(image, &symbols[i], symbols[RETAIN_PLACE + i].address))
            return MT_RUNTIME_UNSAFE;
    for (uint32_t i = RETAIN_PLACE; i <= FLAG; i++) {
        uintptr_t place = i == FLAG ? adapter : symbols[i].address;
        enum mt_swift_runtime_answer answer =
            place ? check_content(image, place, reason) : MT_RUNTIME_FOUND;
        if (answer != MT_RUNTIME_FOUND)
            return answer;
    }
    *runtime = (struct mt_swift_runtime){
        .adapter = (mt_swift_retain **)adapter,
        .retain = (mt_swift_retain **)symbols[RETAIN_PLACE].address,
        .release = (mt_swift_release **)symbols[RELEASE_PLACE].address,
        .retain_n = (mt_swift_retain_n **)symbols[RETAIN_N_PLACE].address,
        .release_n = (mt_swift_release_n **)symbols[RELEASE_N_PLACE].address,
        .try_retain = (mt_swift_retain **)symbols[TRY_RETAIN_PLACE].address,
        .flag = (uint8_t *)symbols[FLAG].address};
    return MT_RUNTIME_FOUND;
}

#else

/* On aarch64 these functions keep all registers but a few, which C code does not. */
static enum mt_swift_runtime_answer prove(const struct mt_loaded_image *image,
                                          struct mt_wanted_symbol *symbols,
                                          struct mt_swift_runtime *runtime, const char **reason) {
    (void)image;
    (void)symbols;
    (void)runtime;
    *reason = "hooks are known for x86_64 only";
    return MT_RUNTIME_UNSAFE;
}

#endif

/* ---- Looking ---- */

/* Every image with Swift code has sections of this name; one that imports functions of the runtime
 * leaves it to another image.
 * returns  whether the runtime is, or should be, in this one */
static bool find_symbols(const struct mt_loaded_image *image, struct mt_wanted_symbol *symbols) {
    struct mt_elf_file file;
    if (!mt_elf_open(&file, image))
        return false;
    bool has_runtime = mt_elf_has_section(&file, "swift5_");
    if (has_runtime) {
        bool is_imported =
            mt_elf_find_symbols(&file, SHT_DYNSYM, image, symbols, SYMBOLS, "swift_");
        bool is_exported = symbols[RETAIN_PLACE].address != 0;
        has_runtime = is_exported || !is_imported;
        if (has_runtime && !is_exported)
            mt_elf_find_symbols(&file, SHT_SYMTAB, image, symbols, SYMBOLS, "swift_");
    }
    mt_elf_close(&file);
    return has_runtime;
}

enum mt_swift_runtime_answer mt_swift_runtime_find(const struct mt_loaded_image *image,
                                                   struct mt_swift_runtime *runtime,
                                                   const char **reason) {
    struct mt_wanted_symbol symbols[SYMBOLS] = {{0}};
    for (uint32_t i = 0; i < SYMBOLS; i++)
        symbols[i].name = names[i];
    if (!find_symbols(image, symbols))
        return MT_RUNTIME_NONE;
    return prove(image, symbols, runtime, reason);
}
