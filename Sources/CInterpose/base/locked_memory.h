/* What the recorder's memory does where a program locks its own (mlockall).
 *
 * RLIMIT_MEMLOCK, of those without CAP_IPC_LOCK, is for all of a process: without this, mlockall
 * would fail where the program's own memory is within it, and what is mapped later. */
#ifndef MT_LOCKED_MEMORY_H
#define MT_LOCKED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Leaves a range of addresses unlocked as well, of which parts are handed out to the host as it
 * goes: what is locked takes no guards, and all of it would count. Instead of the one before; none
 * where it is empty. */
void mt_locked_memory_leave_out(uintptr_t start, uintptr_t end);

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
