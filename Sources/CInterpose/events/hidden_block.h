/* What a hook keeps of a block while it is being recorded: no pointer.
 *
 * A compiler keeps words for later on the stack, and so does a function that saves registers. They
 * stay there when the hook returns. Where the thread waits for ever in a function that has them in
 * its frame and has not written there, a pointer would hide that its block is leaked. */
#ifndef MT_HIDDEN_BLOCK_H
#define MT_HIDDEN_BLOCK_H

#include <stdint.h>

typedef uintptr_t mt_hidden_block;

/* Of which the compiler does not know that it could be had from the block as well. */
static inline mt_hidden_block mt_hide_block(const void *block) {
    mt_hidden_block hidden = ~(uintptr_t)block;
    __asm__("" : "+r"(hidden));
    return hidden;
}

static inline void *mt_show_block(mt_hidden_block hidden) {
    __asm__("" : "+r"(hidden));
    return (void *)~hidden;
}

#endif
