/* A leak planted on request (MEMTRACE_CANARY), so that a gate can prove that leaks would be found:
 * that the hooks are in force, and that what nothing points to shows as leaked in the end. */
#ifndef MT_CANARY_H
#define MT_CANARY_H

/* Requested bytes of the block; the reader knows it by these and by our image (LeakGate's Canary).
 */
enum { MT_CANARY_SIZE = 1729 };

/* Allocates a block through the host's malloc, as its own code would, and forgets it.
 *
 * context  where a constructor may call malloc */
void mt_canary_plant(void);

#endif
