/* Leaks planted on request (MEMTRACE_CANARY), so that a gate can prove that leaks would be found:
 * that the hooks are in force, and that what nothing points to shows as leaked in the end. */
#ifndef MT_CANARY_H
#define MT_CANARY_H

/* Requested bytes of each block; the reader knows them by these and by our image (LeakGate's
 * Canary). One would do, were there not words that look like pointers to it by chance: padding
 * behind two bytes of a struct, with what is left of an address there, leads somewhere into the
 * same 64 KiB, and led to the one block in one process of some twenty. */
enum { MT_CANARY_SIZE = 1729, MT_CANARIES = 3 };

/* Allocates the blocks through the host's malloc, as its own code would, and forgets them.
 *
 * context  where a constructor may call malloc */
void mt_canary_plant(void);

#endif
