/* Keeps forks away from the loader's lock.
 *
 * dl_iterate_phdr takes a lock that glibc does not reset in a forked child: a fork at that moment
 * leaves it taken there for ever. A host that never calls it would not know the danger; we call it
 * to learn of images, and libunwind does for the stacks that it takes. So whoever is about to take
 * the lock says so, and a fork waits for a moment without any. Nobody waits for a fork: while one
 * is under way, the look at the loader's list is left out. */
#ifndef MT_LOADER_GATE_H
#define MT_LOADER_GATE_H

#include "base/os.h"
#include <link.h>

/* returns  false while a fork is under way: then the lock must not be taken; else pair it with
 *          mt_loader_gate_leave. Async-signal-safe. */
bool mt_loader_gate_enter(void);
void mt_loader_gate_leave(void);

/* dl_iterate_phdr within the gate, with signals held back: whoever jumped away from within would
 * leave the loader's lock taken.
 * returns  its result; -1 while a fork is under way: then no image was visited */
int mt_loader_gate_visit(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context);

/* pthread_atfork's three handlers. The wait is bounded (1 s): a host may fork with the lock held,
 * in a callback of dl_iterate_phdr. */
void mt_loader_gate_before_fork(void);
void mt_loader_gate_after_fork_in_parent(void);
void mt_loader_gate_after_fork_in_child(void);

#endif
