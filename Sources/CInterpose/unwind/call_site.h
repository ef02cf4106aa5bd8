/* What calls and jumps lead to, read off the code around them. x86_64. */
#ifndef MT_CALL_SITE_H
#define MT_CALL_SITE_H

#include "base/os.h"

enum mt_call { MT_CALL_NONE, MT_CALL_INDIRECT, MT_CALL_DIRECT };

/* What call instruction is before an address.
 * target  of a direct call: where it leads, behind a jump table (PLT) */
enum mt_call mt_call_before(uintptr_t return_address, uintptr_t *target);

/* Where a function goes on that begins with a jump: one that was merged with another, as compilers
 * do with equal ones, is nothing else. 0 for other code. */
uintptr_t mt_jump_at(uintptr_t target);

static inline bool mt_is_behind_call(uintptr_t return_address) {
    uintptr_t target;
    return mt_call_before(return_address, &target) != MT_CALL_NONE;
}

/* The code at an address; NULL where an instruction there cannot be read. */
const uint8_t *mt_readable_code(uintptr_t address);

/* Where a jump table (PLT) leads: [endbr64] [bnd] jmp *n(%rip); 0 for other code. */
uintptr_t mt_behind_jump_table(uintptr_t target);

#endif
