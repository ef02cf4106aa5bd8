/* Reads calls and jumps. See call_site.h. */
#include "unwind/call_site.h"

#if defined(__x86_64__)

#    include "unwind/instruction.h"

enum { LONGEST_CALL = 7 };

/* Length of `call r/m64` (FF /2) as its ModRM and SIB bytes tell; 0 for other instructions. */
static unsigned indirect_call_length(const uint8_t *code) {
    unsigned operation = code[1] >> 3 & 7;
    if (code[0] != 0xff || operation != 2)
        return 0;
    return (unsigned)(mt_instruction_behind_modrm(code + 1) - code);
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

const uint8_t *mt_readable_code(uintptr_t address) {
    bool is_readable =
        mt_os_is_readable(address) && mt_os_is_readable(address + MT_LONGEST_INSTRUCTION);
    return is_readable ? (const uint8_t *)address : NULL;
}

uintptr_t mt_behind_jump_table(uintptr_t target) {
    const uint8_t *code = mt_readable_code(target);
    if (!code)
        return 0;
    if (memcmp(code, mt_endbr64, sizeof mt_endbr64) == 0)
        code += sizeof mt_endbr64;
    code += *code == 0xf2;
    if (code[0] != 0xff || code[1] != 0x25)
        return 0;
    uintptr_t entry = (uintptr_t)code + 6 + (uintptr_t)(intptr_t)mt_signed_32(code + 2);
    return entry % 8 == 0 && mt_os_is_readable(entry) ? *(const uintptr_t *)entry : 0;
}

uintptr_t mt_jump_at(uintptr_t target) {
    const uint8_t *code = mt_readable_code(target);
    return code ? (uintptr_t)mt_jump_target(code) : 0;
}

enum mt_call mt_call_before(uintptr_t return_address, uintptr_t *target) {
    const uint8_t *end = (const uint8_t *)return_address;
    if (!can_be_behind_call(return_address))
        return MT_CALL_NONE;
    if (end[-5] == 0xe8) {
        *target = return_address + (uintptr_t)(intptr_t)mt_signed_32(end - 4);
        uintptr_t further = mt_behind_jump_table(*target);
        if (further)
            *target = further;
        return MT_CALL_DIRECT;
    }
    return is_behind_indirect_call(end) ? MT_CALL_INDIRECT : MT_CALL_NONE;
}

#endif
