/* The stack of what a signal has interrupted. */
#ifndef MT_INTERRUPTED_STACK_H
#define MT_INTERRUPTED_STACK_H

#include "base/registers.h"

/* Takes it, and writes it into the trace if it is new.
 *
 * registers  of the interrupted thread, which is the calling one
 * returns    its ID; MT_STACK_NONE where none can be taken
 * context    in the handler of a signal that ends the process: a hook that it interrupted is not
 * gone on with */
uint32_t mt_interrupted_stack(const struct mt_registers *registers);

#endif
