/* How a function without unwind table returns, read off its code. x86_64.
 *
 * Assembly, and what a compiler takes for unable to throw, may have neither table nor frame
 * pointer. From where it goes on after a call to its `ret`, the code itself tells where the return
 * address is: each `add` to rsp and each `pop` on the way says what lies in between. Only
 * instructions that are known to leave rsp alone are passed over, calls (which return it as it was)
 * among them; whatever else is met, a change of rsp by any other means, the end of the function or
 * of patience, ends a way. Both ways of a conditional branch are followed, and return alike; of
 * several the longest counts, as a way may lead beyond a call that never returns.
 *
 * What is read is no proof yet: a call that never returns may stand at the end of a function, and
 * the next one behind it. Whoever uses it checks that it leads to behind a call of the function. */
#ifndef MT_EPILOGUE_H
#define MT_EPILOGUE_H

#include "base/os.h"

struct mt_epilogue {
    uint32_t length;   /* bytes from the stack pointer after the call to the caller's */
    uint32_t saved_fp; /* where in these rbp was saved, if pops_fp */
    bool pops_fp;
};

/* Reads the code that begins at `pc`, as far as `end`, the end of its image.
 * returns  false when it does not tell
 * context  any thread; a few system calls */
bool mt_epilogue_read(uintptr_t pc, uintptr_t end, struct mt_epilogue *epilogue);

/* A function is hardly longer. */
#define MT_LONGEST_FUNCTION 0x10000u

#endif
