/* Where an executable calls functions of its own, and how those calls come to lead elsewhere.
 *
 * A call between functions of one image is bound when it is linked: no table has a word that could
 * be written anew, only the instruction says where it leads. What is looked for are the
 * instructions that carry the distance to a function: calls, jumps (of tail calls) and, on x86_64,
 * loads of its address, or the address itself. Each position of the code is considered, whether an
 * instruction begins there or not, so that nothing has to be disassembled: that four bytes behind
 * such an opcode are the very distance to the function from there by chance is one case in 2^32 for
 * each position of an opcode. Short jumps, over 127 bytes at most, stay: they are the allocator's.
 *
 * They then lead to a stub near the code, and that to the other function, which may be anywhere.
 * Pointers that the loader has relocated are written anew as well. Pointers in the data of an
 * executable that is not position-independent are not: nothing tells them from numbers. */
#ifndef MT_CALL_SITES_H
#define MT_CALL_SITES_H

#include "loader/elf_symbols.h"

/* A function of the executable, and who is to be called instead. */
struct mt_call_target {
    uintptr_t function, ours;
};

/* Lets what leads to functions of an image lead elsewhere.
 *
 * image    whose code no other thread executes meanwhile
 * targets  [count], of different functions
 * changed  how many calls, jumps and pointers lead elsewhere now
 * returns  0 or -errno, with nothing changed: -ENOMEM where there is no room near the code, -EACCES
 *          and others where the system does not let code be written (a sandbox, the kernel's
 *          proc_mem.force_override), -E2BIG for too many targets
 * context  the protection of the code stays as it is; async-signal-safe */
long mt_call_sites_redirect(const struct mt_loaded_image *image,
                            const struct mt_call_target *targets, size_t count, uint64_t *changed);

#endif
