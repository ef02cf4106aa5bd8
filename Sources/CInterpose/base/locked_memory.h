/* What the recorder's memory does where a program locks its own (mlockall).
 *
 * RLIMIT_MEMLOCK, of those without CAP_IPC_LOCK, is for all of a process: without this, mlockall
 * would fail where the program's own memory is within it, and what is mapped later. */
#ifndef MT_LOCKED_MEMORY_H
#define MT_LOCKED_MEMORY_H

#include <stdbool.h>

/* After mlockall(flags) has succeeded: lets go of the recorder's memory, and from now on of what it
 * maps. */
void mt_locked_memory_let_go(int flags);

/* After mlockall(flags) has failed with ENOMEM: locks what is not the recorder's, if that is not
 * too much.
 *
 * flags    with MCL_CURRENT
 * returns  whether everything is now as mlockall has it
 * context  any thread; async-signal-safe */
bool mt_locked_memory_lock_others(int flags);

#endif
