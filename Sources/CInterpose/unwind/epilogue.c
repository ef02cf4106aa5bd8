/* Reads epilogues. See epilogue.h. */
#include "unwind/epilogue.h"

#if defined(__x86_64__)

#    include "unwind/call_site.h"
#    include "unwind/instruction.h"

enum { MOST_INSTRUCTIONS = 1024, MOST_BRANCHES = 64, LONGEST_FRAME = 1 << 16 };

static bool is_push(const uint8_t *code) {
    code += *code == 0x41; /* r8 to r15 */
    return *code >= 0x50 && *code < 0x58;
}

/* Whether code that a jump leads to is the beginning of another function: a jump table's entry, or,
 * where the stack has just been taken off, the first instruction of a frame. */
static bool begins_function(const uint8_t *code, bool has_taken_off) {
    static const uint8_t make_room[] = {0x48, 0x83, 0xec}; /* sub $n,%rsp */
    if (mt_behind_jump_table((uintptr_t)code))
        return true;
    return has_taken_off && mt_readable_code((uintptr_t)code) &&
           (is_push(code) || memcmp(code, make_room, sizeof make_room) == 0 ||
            memcmp(code, mt_endbr64, sizeof mt_endbr64) == 0);
}

struct way {
    const uint8_t *at;
    uint32_t length; /* bytes of the stack that were taken off */
    uint32_t saved_fp;
    bool pops_fp;
    bool has_taken_off; /* by the last instruction */
};

/* add $n,%rsp and lea n(%rsp),%rsp: the end of the instruction, NULL where it is none of them. */
static const uint8_t *take_off(const struct mt_instruction *instruction, int32_t *bytes) {
    const uint8_t *code = instruction->code;
    if (instruction->rex != 0x48 || instruction->is_16_bit)
        return NULL;
    if (code[0] == 0x83 && code[1] == 0xc4) {
        *bytes = (int8_t)code[2];
        return code + 3;
    }
    if (code[0] == 0x81 && code[1] == 0xc4) {
        *bytes = mt_signed_32(code + 2);
        return code + 6;
    }
    if (code[0] == 0x8d && code[1] == 0x64 && code[2] == 0x24) {
        *bytes = (int8_t)code[3];
        return code + 4;
    }
    if (code[0] == 0x8d && code[1] == 0xa4 && code[2] == 0x24) {
        *bytes = mt_signed_32(code + 3);
        return code + 7;
    }
    return NULL;
}

static bool pop(struct way *way, const struct mt_instruction *instruction) {
    unsigned reg = instruction->code[0] & 7;
    if (instruction->is_16_bit || mt_instruction_names(instruction, reg, 1, MT_RSP))
        return false;
    if (mt_instruction_names(instruction, reg, 1, MT_RBP)) {
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
    return code[0] == 0x0f && code[1] >= 0x80 && code[1] < 0x90 ? code + 6 + mt_signed_32(code + 2)
                                                                : NULL;
}

/* Whether a branch is met for the first time. Not where there is no more room to tell. */
static bool is_new(struct branches *branches, const uint8_t *code) {
    if (branches->met_count == MOST_BRANCHES)
        return false;
    for (size_t i = 0; i < branches->met_count; i++)
        if (branches->met[i] == code)
            return false;
    branches->met[branches->met_count++] = code;
    return true;
}

/* Puts off where a conditional branch leads to.
 * returns  false where the way has joined one that was followed before */
static bool note_branch(struct branches *branches, const struct way *way, const uint8_t *code) {
    const uint8_t *target = branch_target(code);
    if (!target)
        return true;
    if (!is_new(branches, code))
        return false;
    struct way *other = &branches->waiting[branches->waiting_count++];
    *other = *way;
    other->at = target;
    return true;
}

static enum step step(struct way *way, struct branches *branches) {
    struct mt_instruction instruction = mt_instruction_begin(way->at);
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
    } else if ((behind = mt_jump_target(code)) != NULL) {
        if (begins_function(behind, has_taken_off))
            return STEP_RETURNS;
        if (!is_new(branches, code))
            return STEP_NOTHING;
    } else {
        behind = note_branch(branches, way, code) ? mt_instruction_pass(&instruction) : NULL;
    }
    way->at = behind;
    return behind ? STEP_ON : STEP_NOTHING;
}

struct code_range {
    uintptr_t begin, end;
    uintptr_t page; /* the last one that was felt */
};

static bool can_read(uintptr_t at, struct code_range *range) {
    if (at < range->begin || at >= range->end || range->end - at < MT_LONGEST_INSTRUCTION + 1)
        return false;
    for (uintptr_t edge = at; edge <= at + MT_LONGEST_INSTRUCTION; edge += MT_LONGEST_INSTRUCTION)
        if (edge / MT_PAGE_SIZE != range->page) {
            if (!mt_os_is_readable(edge))
                return false;
            range->page = edge / MT_PAGE_SIZE;
        }
    return true;
}

/* Follows a way to its end: STEP_RETURNS or STEP_NOTHING. */
static enum step follow(struct way *way, struct branches *branches, struct code_range *range,
                        int *instructions_left) {
    enum step result = STEP_ON;
    while (result == STEP_ON) {
        if ((*instructions_left)-- <= 0 || way->length > LONGEST_FRAME ||
            !can_read((uintptr_t)way->at, range))
            return STEP_NOTHING;
        result = step(way, branches);
    }
    return result;
}

/* All ways take the same off, unless one of them went beyond a call that never returns and found
 * the `ret` of a function behind it which takes off nothing. What keeps no stack aligned is none.
 */
static void consider(struct mt_epilogue *epilogue, const struct way *way) {
    uint32_t length = way->length + 8;
    if (length % 16 == 0 && length > epilogue->length)
        *epilogue = (struct mt_epilogue){length, way->saved_fp, way->pops_fp};
}

bool mt_epilogue_read(uintptr_t pc, uintptr_t end, struct mt_epilogue *epilogue) {
    struct way way = {.at = (const uint8_t *)pc};
    struct code_range range = {
        .begin = pc > MT_LONGEST_FUNCTION ? pc - MT_LONGEST_FUNCTION : 0,
        .end = end - pc > MT_LONGEST_FUNCTION ? pc + MT_LONGEST_FUNCTION : end,
    };
    struct branches branches = {0};
    int instructions_left = MOST_INSTRUCTIONS;
    *epilogue = (struct mt_epilogue){0};
    for (;;) {
        if (follow(&way, &branches, &range, &instructions_left) == STEP_RETURNS)
            consider(epilogue, &way);
        if (branches.waiting_count == 0)
            return epilogue->length != 0;
        way = branches.waiting[--branches.waiting_count];
    }
}

#endif
