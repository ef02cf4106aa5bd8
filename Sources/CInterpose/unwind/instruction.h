/* Instructions of x86_64, as far as needed to pass over those that leave the stack pointer alone.
 * Opcodes: Intel SDM volume 2, appendix A. */
#ifndef MT_INSTRUCTION_H
#define MT_INSTRUCTION_H

#include "base/os.h"
#include <string.h>

enum { MT_LONGEST_INSTRUCTION = 15, MT_RSP = 4, MT_RBP = 5 /* as in ModRM */ };

/* endbr64, with which functions begin that are called indirectly. */
static const uint8_t mt_endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

struct mt_instruction {
    const uint8_t *code; /* at the opcode, behind prefixes */
    uint8_t rex;         /* 0: none */
    bool is_16_bit;      /* prefix 66 */
    uint8_t modrm;       /* once passed; 0 without one */
};

/* The instruction at an address: its prefixes are read. */
struct mt_instruction mt_instruction_begin(const uint8_t *at);

/* The end of an instruction that leaves rsp alone and does not load rbp; NULL for any other, and
 * for what is not known. */
const uint8_t *mt_instruction_pass(struct mt_instruction *instruction);

/* The end of ModRM, SIB and displacement. */
const uint8_t *mt_instruction_behind_modrm(const uint8_t *at);

/* Whether a field of ModRM names that register, with the bit of REX that belongs to it. */
static inline bool mt_instruction_names(const struct mt_instruction *instruction, unsigned field,
                                        uint8_t rex_bit, unsigned reg) {
    return field == reg && !(instruction->rex & rex_bit);
}

/* A displacement or immediate of four bytes. */
static inline int32_t mt_signed_32(const uint8_t *at) {
    int32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Where a jump leads that is always taken, `jmp` with a displacement; NULL for other code. */
static inline const uint8_t *mt_jump_target(const uint8_t *code) {
    if (code[0] == 0xe9)
        return code + 5 + mt_signed_32(code + 1);
    return code[0] == 0xeb ? code + 2 + (int8_t)code[1] : NULL;
}

#endif
