/* dlsym(), for what is found by a handle, or as the next one (handle_symbols.h).
 *
 * In assembler, because what RTLD_DEFAULT and RTLD_NEXT find depends on who calls: the hook must
 * leave the return address where it was and jump. */
#define _GNU_SOURCE
#include "events/hook.h"

#include "loader/handle_symbols.h"
#include "process/recording.h"

void *mt_dlsym_prepare(void *handle, const char *name) __attribute__((visibility("hidden")));
void *mt_dlsym_of_none(void *handle, const char *name) __attribute__((visibility("hidden")));

/* Called with both arguments saved.
 * returns  what dlsym is to return; NULL: what the real one does */
void *mt_dlsym_prepare(void *handle, const char *name) {
    if (!mt_real_dlsym && !mt_real_find_dlsym()) {
        mt_real_dlsym = mt_dlsym_of_none;
        return NULL;
    }
    if (mt_recording_state() == MT_OFF)
        return NULL;
    /* A wrapper looks for what it wraps at its first call, which ours may be about to make. */
    if (mt_is_early() && (handle == RTLD_NEXT || !mt_real_resolve()))
        return NULL;
    return handle == RTLD_NEXT ? mt_handle_symbols_find_next(name)
                               : mt_handle_symbols_find(handle, name);
}

/* Where the C library has no dlsym of a version that we know. */
void *mt_dlsym_of_none(void *handle, const char *name) {
    (void)handle, (void)name;
    return NULL;
}

#ifdef MT_EXPORT_HOOKS
#    if defined(__x86_64__)
__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "    .cfi_startproc\n"
        "    cmpq $0, mt_real_dlsym(%rip)\n"
        "    je 1f\n"
        "    testq %rdi, %rdi\n" /* RTLD_DEFAULT is 0 */
        "    jnz 1f\n"
        "    jmpq *mt_real_dlsym(%rip)\n"
        "1:  pushq %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rsi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call mt_dlsym_prepare\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rsi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    testq %rax, %rax\n"
        "    jnz 2f\n"
        "    jmpq *mt_real_dlsym(%rip)\n"
        "2:  ret\n"
        "    .cfi_endproc\n"
        ".size dlsym, . - dlsym\n");
#    elif defined(__aarch64__)
__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, %function\n"
        "dlsym:\n"
        "    .cfi_startproc\n"
        "    adrp x16, mt_real_dlsym\n"
        "    ldr x16, [x16, :lo12:mt_real_dlsym]\n"
        "    cbz x16, 1f\n"
        "    cbnz x0, 1f\n" /* not RTLD_DEFAULT */
        "    br x16\n"
        "1:  stp x29, x30, [sp, #-32]!\n"
        "    .cfi_def_cfa_offset 32\n"
        "    .cfi_offset x29, -32\n"
        "    .cfi_offset x30, -24\n"
        "    stp x0, x1, [sp, #16]\n"
        "    bl mt_dlsym_prepare\n"
        "    mov x17, x0\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x29, x30, [sp], #32\n"
        "    .cfi_def_cfa_offset 0\n"
        "    .cfi_restore x29\n"
        "    .cfi_restore x30\n"
        "    cbnz x17, 2f\n"
        "    adrp x16, mt_real_dlsym\n"
        "    ldr x16, [x16, :lo12:mt_real_dlsym]\n"
        "    br x16\n"
        "2:  mov x0, x17\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size dlsym, . - dlsym\n");
#    endif
#endif
