/* Reads epilogues. See epilogue.h. Opcodes: Intel SDM volume 2, appendix A. */
#include "unwind/epilogue.h"

#if defined(__x86_64__)

#    include <string.h>

enum {
    MOST_INSTRUCTIONS = 1024,
    MOST_BRANCHES = 64,
    LONGEST_INSTRUCTION = 15,
    LONGEST_FRAME = 1 << 16,
    LONGEST_CALL = 7,
    RSP = 4, /* as in ModRM */
    RBP = 5
};

/* ---- Instructions ---- */

struct instruction {
    const uint8_t *code;   /* at the opcode, behind prefixes */
    uint8_t rex;           /* 0: none */
    bool is_16_bit;        /* prefix 66 */
    uint8_t modrm;         /* 0 without one */
    const uint8_t *behind; /* ModRM, SIB and displacement; immediates follow */
};

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

/* The end of ModRM, SIB and displacement. */
static const uint8_t *behind_modrm(const uint8_t *at) {
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

static struct instruction begin(const uint8_t *at) {
    struct instruction instruction = {0};
    /* 66, fs (the stack protector's), lock, repeats. */
    for (; *at == 0x66 || *at == 0x64 || *at == 0xf0 || *at == 0xf2 || *at == 0xf3; at++)
        instruction.is_16_bit |= *at == 0x66;
    if ((*at & 0xf0) == 0x40)
        instruction.rex = *at++;
    instruction.code = at;
    return instruction;
}

/* Whether a field of ModRM names that register, with the bit of REX that belongs to it. */
static bool names(const struct instruction *instruction, unsigned field, uint8_t rex_bit,
                  unsigned reg) {
    return field == reg && !(instruction->rex & rex_bit);
}

/* Whether a general register that ModRM names is rsp. Of a group the second field is a part of the
 * opcode. */
static bool names_rsp(const struct instruction *instruction, bool is_group) {
    unsigned mod = instruction->modrm >> 6, reg = instruction->modrm >> 3 & 7,
             rm = instruction->modrm & 7;
    return (mod == 3 && names(instruction, rm, 1, RSP)) ||
           (!is_group && names(instruction, reg, 4, RSP));
}

/* mov n(%rsp),%rbp: puts the caller's rbp back without a pop. */
static bool loads_fp(const struct instruction *instruction) {
    return instruction->code[0] == 0x8b && instruction->rex & 8 &&
           names(instruction, instruction->modrm >> 3 & 7, 4, RBP);
}

static bool is_group(uint8_t opcode) {
    return opcode == 0x80 || opcode == 0x81 || opcode == 0x83 || opcode == 0xc0 || opcode == 0xc1 ||
           opcode == 0xc6 || opcode == 0xc7 || (opcode >= 0xd0 && opcode <= 0xd3) || opcode == 0xfe;
}

/* test and grp3, of which two have an immediate; the indirect call of grp5. */
static const uint8_t *pass_special(struct instruction *instruction) {
    const uint8_t *code = instruction->code;
    unsigned operation = code[1] >> 3 & 7;
    instruction->modrm = code[1];
    const uint8_t *behind = behind_modrm(code + 1);
    if (code[0] == 0xff)
        return operation == 2 || (operation < 2 && !names_rsp(instruction, true)) ? behind : NULL;
    if (operation > 1) /* not, neg, mul, div */
        return names_rsp(instruction, true) ? NULL : behind;
    return behind + (code[0] == 0xf6 ? 1 : instruction->is_16_bit ? 2 : 4);
}

/* The end of an instruction that leaves rsp alone; NULL for any other. */
static const uint8_t *pass(struct instruction *instruction) {
    const uint8_t *code = instruction->code;
    if (code[0] == 0xf6 || code[0] == 0xf7 || code[0] == 0xff)
        return pass_special(instruction);
    enum shape shape = code[0] == 0x0f ? shape_of_two(code[1]) : shape_of(code[0]);
    const uint8_t *at = code + (code[0] == 0x0f ? 2 : 1);
    if (has_modrm(shape)) {
        instruction->modrm = *at;
        bool has_group = is_group(code[0]) || (code[0] == 0x0f && code[1] == 0xba);
        bool is_vector =
            shape == MODRM_VECTOR || (code[0] == 0x0f && (code[1] == 0xc2 || code[1] == 0xc6 ||
                                                          (code[1] >= 0x70 && code[1] < 0x74)));
        if (!is_vector && (names_rsp(instruction, has_group) || loads_fp(instruction)))
            return NULL;
        at = behind_modrm(at);
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
        if (names(instruction, code[0] & 7, 1, RSP))
            return NULL;
        if (instruction->rex & 8)
            return at + 8;
    }
    bool is_branch = code[0] == 0xe8 || code[0] == 0x0f;
    return at + (instruction->is_16_bit && !is_branch ? 2 : 4);
}

/* ---- Jumps into other functions ---- */

static int32_t signed_32(const uint8_t *at) {
    int32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/* Where a jump table (PLT) leads: [endbr64] [bnd] jmp *n(%rip); 0 for other code. */
static uintptr_t behind_jump_table(uintptr_t target) {
    if (!mt_os_is_readable(target) || !mt_os_is_readable(target + LONGEST_INSTRUCTION))
        return 0;
    const uint8_t *code = (const uint8_t *)target;
    if (memcmp(code, endbr64, sizeof endbr64) == 0)
        code += sizeof endbr64;
    code += *code == 0xf2;
    if (code[0] != 0xff || code[1] != 0x25)
        return 0;
    uintptr_t entry = (uintptr_t)code + 6 + (uintptr_t)(intptr_t)signed_32(code + 2);
    return entry % 8 == 0 && mt_os_is_readable(entry) ? *(const uintptr_t *)entry : 0;
}

static bool is_push(const uint8_t *code) {
    code += *code == 0x41; /* r8 to r15 */
    return *code >= 0x50 && *code < 0x58;
}

/* Whether code that a jump leads to is the beginning of another function: a jump table's entry, or,
 * where the stack has just been taken off, the first instruction of a frame. */
static bool begins_function(const uint8_t *code, bool has_taken_off) {
    static const uint8_t make_room[] = {0x48, 0x83, 0xec}; /* sub $n,%rsp */
    if (behind_jump_table((uintptr_t)code))
        return true;
    return has_taken_off && mt_os_is_readable((uintptr_t)code) &&
           (is_push(code) || memcmp(code, make_room, sizeof make_room) == 0 ||
            memcmp(code, endbr64, sizeof endbr64) == 0);
}

/* ---- The way to ret ---- */

struct way {
    const uint8_t *at;
    uint32_t length; /* bytes of the stack that were taken off */
    uint32_t saved_fp;
    bool pops_fp;
    bool has_taken_off; /* by the last instruction */
};

/* add $n,%rsp and lea n(%rsp),%rsp: the end of the instruction, NULL where it is none of them. */
static const uint8_t *take_off(const struct instruction *instruction, int32_t *bytes) {
    const uint8_t *code = instruction->code;
    if (instruction->rex != 0x48 || instruction->is_16_bit)
        return NULL;
    if (code[0] == 0x83 && code[1] == 0xc4) {
        *bytes = (int8_t)code[2];
        return code + 3;
    }
    if (code[0] == 0x81 && code[1] == 0xc4) {
        *bytes = signed_32(code + 2);
        return code + 6;
    }
    if (code[0] == 0x8d && code[1] == 0x64 && code[2] == 0x24) {
        *bytes = (int8_t)code[3];
        return code + 4;
    }
    if (code[0] == 0x8d && code[1] == 0xa4 && code[2] == 0x24) {
        *bytes = signed_32(code + 3);
        return code + 7;
    }
    return NULL;
}

static bool pop(struct way *way, const struct instruction *instruction) {
    unsigned reg = instruction->code[0] & 7;
    if (instruction->is_16_bit || names(instruction, reg, 1, RSP))
        return false;
    if (names(instruction, reg, 1, RBP)) {
        if (way->pops_fp)
            return false;
        way->pops_fp = true;
        way->saved_fp = way->length;
    }
    way->length += 8;
    way->has_taken_off = true;
    way->at = instruction->code + 1;
    return true;
}

enum step { STEP_ON, STEP_RETURNS, STEP_NOTHING };

/* Branches on the way, which lead elsewhere to `ret`. */
struct branches {
    const uint8_t *met[MOST_BRANCHES];
    size_t met_count;
    struct way waiting[MOST_BRANCHES];
    size_t waiting_count;
};

/* Where a conditional branch leads; NULL for other instructions. */
static const uint8_t *branch_target(const uint8_t *code) {
    if (code[0] >= 0x70 && code[0] < 0x80)
        return code + 2 + (int8_t)code[1];
    return code[0] == 0x0f && code[1] >= 0x80 && code[1] < 0x90 ? code + 6 + signed_32(code + 2)
                                                                : NULL;
}

static void note_branch(struct branches *branches, const struct way *way, const uint8_t *code) {
    const uint8_t *target = branch_target(code);
    if (!target || branches->met_count == MOST_BRANCHES)
        return;
    for (size_t i = 0; i < branches->met_count; i++)
        if (branches->met[i] == code)
            return;
    branches->met[branches->met_count++] = code;
    struct way *other = &branches->waiting[branches->waiting_count++];
    *other = *way;
    other->at = target;
}

static enum step step(struct way *way, struct branches *branches) {
    struct instruction instruction = begin(way->at);
    const uint8_t *code = instruction.code, *behind;
    bool has_taken_off = way->has_taken_off;
    int32_t bytes;
    way->has_taken_off = false;
    if (code[0] == 0xc3 || (code[0] == 0xff && code[1] == 0x25)) /* jmp *n(%rip) */
        return STEP_RETURNS;
    if (code[0] >= 0x58 && code[0] < 0x60)
        return pop(way, &instruction) ? STEP_ON : STEP_NOTHING;
    if ((behind = take_off(&instruction, &bytes)) != NULL) {
        if (bytes <= 0 || bytes % 8 != 0 || bytes > LONGEST_FRAME)
            return STEP_NOTHING;
        way->length += (uint32_t)bytes;
        way->has_taken_off = true;
    } else if (code[0] == 0xeb || code[0] == 0xe9) {
        behind = code[0] == 0xeb ? code + 2 + (int8_t)code[1] : code + 5 + signed_32(code + 1);
        if (begins_function(behind, has_taken_off))
            return STEP_RETURNS;
    } else {
        note_branch(branches, way, code);
        behind = pass(&instruction);
    }
    way->at = behind;
    return behind ? STEP_ON : STEP_NOTHING;
}

/* Whether an instruction at `at` can be read. *page: the last page that was felt. */
static bool can_read(uintptr_t at, uintptr_t begin, uintptr_t end, uintptr_t *page) {
    if (at < begin || at >= end || end - at < LONGEST_INSTRUCTION + 1)
        return false;
    for (uintptr_t edge = at; edge <= at + LONGEST_INSTRUCTION; edge += LONGEST_INSTRUCTION)
        if (edge / MT_PAGE_SIZE != *page) {
            if (!mt_os_is_readable(edge))
                return false;
            *page = edge / MT_PAGE_SIZE;
        }
    return true;
}

bool mt_epilogue_read(uintptr_t pc, uintptr_t end, struct mt_epilogue *epilogue) {
    struct way way = {.at = (const uint8_t *)pc};
    uintptr_t page = 0, begin = pc > MT_LONGEST_FUNCTION ? pc - MT_LONGEST_FUNCTION : 0;
    if (end - pc > MT_LONGEST_FUNCTION)
        end = pc + MT_LONGEST_FUNCTION;
    struct branches branches = {0};
    for (int count = 0; count < MOST_INSTRUCTIONS; count++) {
        enum step result = STEP_NOTHING;
        if (way.length <= LONGEST_FRAME && can_read((uintptr_t)way.at, begin, end, &page))
            result = step(&way, &branches);
        if (result == STEP_RETURNS) {
            *epilogue = (struct mt_epilogue){way.length + 8, way.saved_fp, way.pops_fp};
            return true;
        }
        if (result == STEP_NOTHING) {
            if (branches.waiting_count == 0)
                return false;
            way = branches.waiting[--branches.waiting_count];
        }
    }
    return false;
}

/* ---- Calls ---- */

/* Length of `call r/m64` (FF /2) as its ModRM and SIB bytes tell; 0 for other instructions. */
static unsigned indirect_call_length(const uint8_t *code) {
    unsigned operation = code[1] >> 3 & 7;
    if (code[0] != 0xff || operation != 2)
        return 0;
    return (unsigned)(behind_modrm(code + 1) - code);
}

static bool is_behind_indirect_call(const uint8_t *end) {
    for (unsigned length = 2; length <= LONGEST_CALL; length++)
        if (indirect_call_length(end - length) == length)
            return true;
    return false;
}

static bool can_be_behind_call(uintptr_t return_address) {
    return return_address >= MT_PAGE_SIZE && mt_os_is_readable(return_address - LONGEST_CALL - 1);
}

uintptr_t mt_jump_at(uintptr_t target) {
    if (!mt_os_is_readable(target) || !mt_os_is_readable(target + LONGEST_INSTRUCTION))
        return 0;
    const uint8_t *code = (const uint8_t *)target;
    if (code[0] == 0xe9)
        return target + 5 + (uintptr_t)(intptr_t)signed_32(code + 1);
    return code[0] == 0xeb ? target + 2 + (uintptr_t)(intptr_t)(int8_t)code[1] : 0;
}

enum mt_call mt_call_before(uintptr_t return_address, uintptr_t *target) {
    const uint8_t *end = (const uint8_t *)return_address;
    if (!can_be_behind_call(return_address))
        return MT_CALL_NONE;
    if (end[-5] == 0xe8) {
        *target = return_address + (uintptr_t)(intptr_t)signed_32(end - 4);
        uintptr_t further = behind_jump_table(*target);
        if (further)
            *target = further;
        return MT_CALL_DIRECT;
    }
    return is_behind_indirect_call(end) ? MT_CALL_INDIRECT : MT_CALL_NONE;
}

#endif
