/* See vector_registers.h. */
#include "snapshot/vector_registers.h"

#include "snapshot/snapshot_reads.h"

static bool copy(const uint8_t *saved, size_t offset, void *to, size_t size) {
    if (!mt_snapshot_can_read((uintptr_t)saved + offset, size))
        return false;
    memcpy(to, saved + offset, size);
    return true;
}

#if defined(__x86_64__)
#    include <cpuid.h>

/* Where things lie in what the kernel saves (arch/x86/include/uapi/asm/sigcontext.h, struct
 * _fpstate_64 and struct _xstate), which begins as FXSAVE writes it. */
enum {
    XMM = 160,
    EXTENSION = 464, /* struct _fpx_sw_bytes: whether more follows, and how much is there in all */
    IN_USE = 512,    /* the parts that are not as at the beginning, a bit for each */
    EXTENDED = 0x46505853 /* FP_XSTATE_MAGIC1 */
};

/* Intel SDM 1, 13.1, "XSAVE-Supported Features and State-Component Bitmaps". */
static const struct part {
    uint32_t number, first_word, size; /* words as in struct mt_snapshot_thread; bytes */
} parts[] = {
    {2, 32, 16 * 16},  /* upper halves of ymm0 ... ymm15 */
    {6, 64, 16 * 32},  /* upper halves of zmm0 ... zmm15 */
    {7, 128, 16 * 64}, /* zmm16 ... zmm31 */
};

/* The kernel saves in the standard form, whose places the processor tells (13.5.2 there). */
static void copy_part(const uint8_t *saved, const struct part *part, uint32_t saved_size,
                      uint64_t *words) {
    uint32_t size, offset, c, d;
    if (!__get_cpuid_count(0xd, part->number, &size, &offset, &c, &d) || size != part->size ||
        offset > saved_size || saved_size - offset < size)
        return;
    copy(saved, offset, words + part->first_word, size);
}

void mt_vector_registers_read(const void *saved, uint64_t words[MT_VECTOR_WORDS]) {
    struct {
        uint32_t magic, extended_size;
        uint64_t features;
        uint32_t size;
    } extension;
    uint64_t in_use;
    memset(words, 0, MT_VECTOR_WORDS * sizeof *words);
    if (!copy(saved, XMM, words, 16 * 16) ||
        !copy(saved, EXTENSION, &extension, sizeof extension) || extension.magic != EXTENDED ||
        !copy(saved, IN_USE, &in_use, sizeof in_use))
        return;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (in_use >> parts[i].number & 1)
            copy_part(saved, &parts[i], extension.size, words);
}
#else
/* Among the records behind the registers (arch/arm64/include/uapi/asm/sigcontext.h, struct
 * fpsimd_context), of which the kernel writes this one first. */
void mt_vector_registers_read(const void *saved, uint64_t words[MT_VECTOR_WORDS]) {
    enum { MAGIC = 0x46508001, REGISTERS = 16 };
    uint32_t magic;
    memset(words, 0, MT_VECTOR_WORDS * sizeof *words);
    if (copy(saved, 0, &magic, sizeof magic) && magic == MAGIC)
        copy(saved, REGISTERS, words, 32 * 16);
}
#endif
