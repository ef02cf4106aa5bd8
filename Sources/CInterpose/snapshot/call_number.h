/* Which system call a handler has interrupted.
 *
 * On x86_64 the result of a call takes the place of its number, so the registers do not tell.
 * Whoever sends a thread a signal can look before what the thread waits in. The thread that nobody
 * has looked at, or that has entered its call only since, is told by the code that made it, or by a
 * hook that has noted it (noted_wait.h). */
#ifndef MT_CALL_NUMBER_H
#define MT_CALL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum { MT_CALL_ARGUMENTS = 6 };

/* A call that a thread waits in, or was interrupted in. */
struct mt_call {
    uint64_t pc; /* behind the instruction that has made it; 0: the thread is in none */
    uint64_t sp;
    uint64_t arguments[MT_CALL_ARGUMENTS];
    uint32_t number;
};

/* Looks what a thread of this process waits in.
 *
 * context  one caller at a time; async-signal-safe */
void mt_call_see(struct mt_call *call, uint32_t tid);

/* Reads the call that has just returned.
 *
 * context  third argument of the handler
 * seen     what mt_call_see() said of the thread before; NULL: nobody has looked
 * returns  false: none has, or which one is not known; x86_64 only */
bool mt_call_read(struct mt_call *call, const void *context, const struct mt_call *seen);

/* Reads a call that was interrupted and fails with EINTR when the handler returns.
 *
 * context  third argument of the handler
 * seen     what mt_call_see() said of the thread before; NULL: nobody has looked
 * returns  false: none was, or which one is not known */
bool mt_call_read_interrupted(struct mt_call *call, const void *context,
                              const struct mt_call *seen);

/* Gives the interrupted call another argument, for when it begins anew; x86_64 only.
 *
 * context  third argument of the handler
 * index    0 for the first one */
void mt_call_set_argument(void *context, int index, uint64_t value);

#endif
