/* Reads instructions. See instruction.h. */
#include "unwind/instruction.h"

#if defined(__x86_64__)

/* What follows an opcode. */
enum shape {
    NOT_KNOWN = 0,
    PLAIN,        /* nothing */
    IMMEDIATE_8,  /* a byte */
    IMMEDIATE,    /* two bytes with prefix 66, else four */
    MODRM,        /* ModRM, of which the register may be written to, or what the rest says */
    MODRM_VECTOR, /* the same, with vector or segment registers */
    MODRM_IMMEDIATE_8,
    MODRM_IMMEDIATE
};

/* Opcodes of one byte that leave rsp alone, unless ModRM says so. */
static enum shape shape_of(uint8_t opcode) {
    if (opcode < 0x40)
        switch (opcode & 7) {
        case 4:
            return IMMEDIATE_8;
        case 5:
            return IMMEDIATE;
        case 6:
        case 7:
            return NOT_KNOWN;
        default:
            return MODRM;
        }
    if (opcode >= 0x70 && opcode < 0x80) /* jcc */
        return IMMEDIATE_8;
    if (opcode >= 0xb0 && opcode < 0xb8)
        return IMMEDIATE_8;
    if (opcode >= 0xb8 && opcode < 0xc0)
        return IMMEDIATE; /* with REX.W eight bytes: below */
    switch (opcode) {
    case 0x63: /* movsxd */
    case 0x84:
    case 0x85:
    case 0x86:
    case 0x87:
    case 0x88:
    case 0x89:
    case 0x8a:
    case 0x8b:
    case 0x8d:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xfe:
        return MODRM;
    case 0xd8: /* x87 */
    case 0xd9:
    case 0xda:
    case 0xdb:
    case 0xdc:
    case 0xdd:
    case 0xde:
    case 0xdf:
        return MODRM_VECTOR;
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6:
        return MODRM_IMMEDIATE_8;
    case 0x69:
    case 0x81:
    case 0xc7:
        return MODRM_IMMEDIATE;
    case 0x98: /* cdqe, cqo, movs, stos */
    case 0x99:
    case 0xa4:
    case 0xa5:
    case 0xaa:
    case 0xab:
        return PLAIN;
    case 0xa8: /* test */
        return IMMEDIATE_8;
    case 0xa9:
    case 0xe8: /* call */
        return IMMEDIATE;
    default:
        return NOT_KNOWN;
    }
}

/* The same for opcodes behind 0f. */
static enum shape shape_of_two(uint8_t opcode) {
    if (opcode >= 0x80 && opcode < 0x90) /* jcc */
        return IMMEDIATE;
    if ((opcode >= 0x40 && opcode < 0x50) || (opcode >= 0x90 && opcode < 0xa0)) /* cmov, set */
        return MODRM;
    if ((opcode >= 0xc8 && opcode < 0xd0) || opcode == 0x05) /* bswap, syscall */
        return PLAIN;
    if ((opcode >= 0x70 && opcode < 0x74) || opcode == 0xc2 || (opcode >= 0xc4 && opcode < 0xc7))
        return MODRM_IMMEDIATE_8;
    if ((opcode >= 0x10 && opcode < 0x18) || (opcode >= 0x28 && opcode < 0x30) ||
        (opcode >= 0x51 && opcode < 0x70) || (opcode >= 0x74 && opcode < 0x77) ||
        (opcode >= 0x7c && opcode < 0x80) || (opcode >= 0xd0 && opcode < 0xff))
        return MODRM_VECTOR;
    switch (opcode) {
    case 0x18: /* prefetch */
        return MODRM_VECTOR;
    case 0xa3:
    case 0xa5:
    case 0xab:
    case 0xad:
    case 0xaf:
    case 0xb0:
    case 0xb1:
    case 0xb3:
    case 0xb6:
    case 0xb7:
    case 0xb8:
    case 0xbb:
    case 0xbc:
    case 0xbd:
    case 0xbe:
    case 0xbf:
    case 0xc0:
    case 0xc1:
        return MODRM;
    case 0xa4:
    case 0xac:
    case 0xba:
        return MODRM_IMMEDIATE_8;
    default:
        return NOT_KNOWN;
    }
}

static bool has_modrm(enum shape shape) {
    return shape >= MODRM;
}

const uint8_t *mt_instruction_behind_modrm(const uint8_t *at) {
    unsigned mod = *at >> 6, rm = *at & 7;
    at++;
    if (mod == 3)
        return at;
    if (rm == 4) {
        uint8_t base = *at++ & 7;
        return at + (mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
    }
    return at + (mod == 1 ? 1 : mod == 2 || rm == 5 ? 4 : 0);
}

struct mt_instruction mt_instruction_begin(const uint8_t *at) {
    struct mt_instruction instruction = {0};
    /* 66, fs (the stack protector's), lock, repeats. */
    for (; *at == 0x66 || *at == 0x64 || *at == 0xf0 || *at == 0xf2 || *at == 0xf3; at++)
        instruction.is_16_bit |= *at == 0x66;
    if ((*at & 0xf0) == 0x40)
        instruction.rex = *at++;
    instruction.code = at;
    return instruction;
}

enum { WRITES_NOTHING = 0, WRITES_REGISTER = 1, WRITES_RM = 2 };

/* Which operands that ModRM names an instruction may write to. Of a group the second field is a
 * part of the opcode. */
static unsigned written(const uint8_t *code) {
    uint8_t opcode = code[0];
    if (opcode == 0x0f) {
        bool is_load = (code[1] >= 0x40 && code[1] < 0x50) || code[1] == 0xaf ||
                       (code[1] >= 0xb6 && code[1] < 0xc0 && code[1] != 0xba && code[1] != 0xbb);
        if (code[1] == 0xba)
            return WRITES_RM;
        return is_load ? WRITES_REGISTER : WRITES_REGISTER | WRITES_RM;
    }
    if (opcode < 0x38)
        return opcode & 2 ? WRITES_REGISTER : WRITES_RM;
    if (opcode < 0x40 || opcode == 0x84 || opcode == 0x85) /* cmp, test */
        return WRITES_NOTHING;
    switch (opcode) {
    case 0x63: /* movsxd */
    case 0x69: /* imul */
    case 0x6b:
    case 0x8a: /* mov */
    case 0x8b:
    case 0x8d: /* lea */
        return WRITES_REGISTER;
    case 0x86: /* xchg */
    case 0x87:
        return WRITES_REGISTER | WRITES_RM;
    default: /* mov, groups */
        return WRITES_RM;
    }
}

/* Whether the operands are bytes of registers: without REX, what would be rsp is ah then. */
static bool is_of_bytes(const uint8_t *code) {
    if (code[0] == 0x0f)
        return code[1] >= 0x90 && code[1] < 0xa0; /* set */
    if (code[0] < 0x40)
        return !(code[0] & 1);
    return code[0] == 0x80 || code[0] == 0xc0 || code[0] == 0xc6 || code[0] == 0xd0 ||
           code[0] == 0xd2 || code[0] == 0xf6 || code[0] == 0xfe ||
           (code[0] >= 0x84 && code[0] < 0x8c && !(code[0] & 1));
}

/* Whether it may write to rsp as one of the operands that ModRM names. */
static bool writes_rsp(const struct mt_instruction *instruction) {
    unsigned mod = instruction->modrm >> 6, reg = instruction->modrm >> 3 & 7,
             rm = instruction->modrm & 7, operands = written(instruction->code);
    if (is_of_bytes(instruction->code) && !instruction->rex)
        return false;
    return (operands & WRITES_RM && mod == 3 && mt_instruction_names(instruction, rm, 1, MT_RSP)) ||
           (operands & WRITES_REGISTER && mt_instruction_names(instruction, reg, 4, MT_RSP));
}

/* mov n(%rsp),%rbp: puts the caller's rbp back without a pop. */
static bool loads_fp(const struct mt_instruction *instruction) {
    return instruction->code[0] == 0x8b && instruction->rex & 8 &&
           mt_instruction_names(instruction, instruction->modrm >> 3 & 7, 4, MT_RBP);
}

/* test and grp3, of which two have an immediate; the indirect call of grp5. */
static const uint8_t *pass_special(struct mt_instruction *instruction) {
    const uint8_t *code = instruction->code;
    unsigned operation = code[1] >> 3 & 7;
    instruction->modrm = code[1];
    const uint8_t *behind = mt_instruction_behind_modrm(code + 1);
    if (code[0] == 0xff)
        return operation == 2 || (operation < 2 && !writes_rsp(instruction)) ? behind : NULL;
    if (operation > 1) /* not, neg, mul, div */
        return writes_rsp(instruction) ? NULL : behind;
    return behind + (code[0] == 0xf6 ? 1 : instruction->is_16_bit ? 2 : 4);
}

const uint8_t *mt_instruction_pass(struct mt_instruction *instruction) {
    const uint8_t *code = instruction->code;
    if (code[0] == 0xf6 || code[0] == 0xf7 || code[0] == 0xff)
        return pass_special(instruction);
    enum shape shape = code[0] == 0x0f ? shape_of_two(code[1]) : shape_of(code[0]);
    const uint8_t *at = code + (code[0] == 0x0f ? 2 : 1);
    if (has_modrm(shape)) {
        instruction->modrm = *at;
        bool is_vector =
            shape == MODRM_VECTOR || (code[0] == 0x0f && (code[1] == 0xc2 || code[1] == 0xc6 ||
                                                          (code[1] >= 0x70 && code[1] < 0x74)));
        if (!is_vector && (writes_rsp(instruction) || loads_fp(instruction)))
            return NULL;
        at = mt_instruction_behind_modrm(at);
    }
    switch (shape) {
    case NOT_KNOWN:
        return NULL;
    case PLAIN:
    case MODRM:
    case MODRM_VECTOR:
        return at;
    case IMMEDIATE_8:
    case MODRM_IMMEDIATE_8:
        return at + 1;
    case IMMEDIATE:
    case MODRM_IMMEDIATE:
        break;
    }
    if (code[0] >= 0xb8 && code[0] < 0xc0) {
        if (mt_instruction_names(instruction, code[0] & 7, 1, MT_RSP))
            return NULL;
        if (instruction->rex & 8)
            return at + 8;
    }
    bool is_branch = code[0] == 0xe8 || code[0] == 0x0f;
    return at + (instruction->is_16_bit && !is_branch ? 2 : 4);
}

#endif
